#include "request.hpp"

#include "parser.hpp"

namespace tiered {

namespace {

value number(const node& e) {
  if (e.is == node::kind::constant)
    return e.literal;
  const bool negated
    = e.is == node::kind::operate && (e.what == operation::neg_i || e.what == operation::neg_d);
  value result{};
  if (!negated || compute(e.what, number(*e.children[0]), {}, result) != fault::none)
    throw source_error(e.where, "the arguments of a request are numbers, as in fib(20)");
  return result;
}

} // namespace

request parse_request(const program& p, std::string_view text) {
  const function parsed = parse_expression(p, text);
  const node& call = *parsed.body;
  if (call.is != node::kind::call)
    throw source_error(call.where, "a request is a call of a function, as in fib(20)");
  request r;
  r.function = call.callee;
  for (const node_ptr& argument : call.children)
    r.arguments.push_back(number(*argument));
  return r;
}

} // namespace tiered
