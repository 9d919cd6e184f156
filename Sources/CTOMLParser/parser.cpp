#include "CTOMLParser.h"

#include <algorithm>
#include <exception>
#include <string_view>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

void visit(const toml::node &node, const CTOMLVisitor &visitor) {
  switch (node.type()) {
  case toml::node_type::table:
    visitor.begin_table(visitor.context);
    for (const auto &[key, value] : *node.as_table()) {
      visitor.key(visitor.context, key.str().data(), key.str().size());
      visit(value, visitor);
    }
    return visitor.end(visitor.context);
  case toml::node_type::array:
    visitor.begin_array(visitor.context, node.as_array()->size());
    for (const auto &element : *node.as_array()) visit(element, visitor);
    return visitor.end(visitor.context);
  case toml::node_type::string: {
    const auto &text = node.as_string()->get();
    return visitor.string(visitor.context, text.data(), text.size());
  }
  case toml::node_type::integer: return visitor.integer(visitor.context, node.as_integer()->get());
  case toml::node_type::floating_point: return visitor.number(visitor.context, node.as_floating_point()->get());
  case toml::node_type::boolean: return visitor.boolean(visitor.context, node.as_boolean()->get());
  default: return visitor.moment(visitor.context);
  }
}

bool fail(CTOMLError *error, std::string_view message, uint32_t line, uint32_t column) {
  size_t count = std::min(message.size(), sizeof error->message - 1);
  std::copy_n(message.data(), count, error->message);
  error->message[count] = 0;
  error->line = line;
  error->column = column;
  return false;
}

} // namespace

bool ctoml_parse(const char *bytes, size_t count, const CTOMLVisitor *visitor, CTOMLError *error) {
  try {
    const auto result = toml::parse(std::string_view(bytes, count));
    if (!result) {
      const auto &place = result.error().source().begin;
      return fail(error, result.error().description(), place.line, place.column);
    }
    visit(result.table(), *visitor);
    return true;
  } catch (const std::exception &exception) {
    // Such as no memory.
    return fail(error, exception.what(), 0, 0);
  }
}
