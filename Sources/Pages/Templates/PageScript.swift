/// The scripts of the pages, the only ones there are. A field called `submit` would hide the form's own function of
/// that name, which is why those that post a form take it from its prototype.
enum PageScript {
  /// Adds the fragment of the wanted address, which the redirects to the page have kept and browsers send to no server,
  /// to the links to `authorize`. One that makes a link too long is left out: it would not be kept
  /// (`ReturnTarget.maximumLength`), and a request target of more than 8 KiB would be refused (414), with the sign-in.
  static let signIn: StaticString = """
    const fragment = location.hash.replaceAll('\\\\', '%5C');
    if (fragment.length > 1) {
      for (const link of document.querySelectorAll('a[href*="/authorize?"]')) {
        const address = link.href + '&fragment=' + encodeURIComponent(fragment);
        if (address.length < 7000) link.href = address;
      }
    }
    """

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

  /// Shows the part of the page that says who has signed in meanwhile, whenever the user comes back to it, and submits
  /// the form once, by the button, if that is still the account that it is for. When the page is left behind, its
  /// entries are gone.
  static let form: StaticString = """
    const page = document.getElementById('kept');
    const form = document.getElementById('entries');
    const send = document.getElementById('send');
    let sent = false;
    const show = (account) => {
      for (const part of page.querySelectorAll('[data-account]')) part.hidden = part.dataset.account !== account;
    };
    const ask = async () => {
      try {
        const answer = await fetch(page.dataset.check, {cache: 'no-store', redirect: 'error'});
        return answer.ok ? (await answer.json()).account : 'none';
      } catch {
        return 'none';
      }
    };
    const look = async () => {
      if (sent) return;
      const account = await ask();
      if (!sent) show(account);
    };
    send.addEventListener('click', async () => {
      if (sent) return;
      sent = true;
      const account = await ask();
      if (account === 'same') {
        send.disabled = true;
        HTMLFormElement.prototype.submit.call(form);
      } else {
        sent = false;
        show(account);
      }
    });
    addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    addEventListener('pagehide', () => { if (sent) form.replaceChildren(); });
    page.hidden = false;
    """
}
