/// The scripts of the pages that post Apple's answer: the only ones there are. A field called `submit` would hide the
/// form's own function of that name, which is why they take it from its prototype.
enum PageScript {
  /// Posts the form of the page.
  static let repost: StaticString = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  /// Makes fields of the answer in the address's fragment and posts them. It takes the answer out of the address and of
  /// the history before: it is not to be seen there. What only scripts make good is hidden until then.
  static let fragment: StaticString = """
    const form = document.forms[0];
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const field = document.createElement('input');
      field.type = 'hidden';
      field.name = name;
      field.value = value;
      form.append(field);
    }
    history.replaceState(null, '', location.pathname);
    form.closest('[hidden]')?.removeAttribute('hidden');
    HTMLFormElement.prototype.submit.call(form);
    """
}
