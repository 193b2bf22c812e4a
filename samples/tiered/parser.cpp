// The whole grammar in one file: a recursive descent, whose functions call each other.

#include "parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <unordered_map>
#include <utility>

#include "lexer.hpp"

namespace tiered {

namespace {

using headers = std::unordered_map<std::string_view, std::uint32_t>;

// An operator by the types of its operands; both have the same.
struct binary_operator {
  std::string_view text;
  int binds; // tighter if higher
  operation on_integers;
  operation on_reals;
  bool has_reals;
};

constexpr int comparisons_bind = 3;
constexpr std::array binary_operators = {
  binary_operator{"<", 3, operation::lt_i, operation::lt_d, true},
  binary_operator{"<=", 3, operation::le_i, operation::le_d, true},
  binary_operator{">", 3, operation::gt_i, operation::gt_d, true},
  binary_operator{">=", 3, operation::ge_i, operation::ge_d, true},
  binary_operator{"==", 3, operation::eq_i, operation::eq_d, true},
  binary_operator{"!=", 3, operation::ne_i, operation::ne_d, true},
  binary_operator{"|", 4, operation::or_i, {}, false},
  binary_operator{"^", 5, operation::xor_i, {}, false},
  binary_operator{"&", 6, operation::and_i, {}, false},
  binary_operator{"<<", 7, operation::shl_i, {}, false},
  binary_operator{">>", 7, operation::shr_i, {}, false},
  binary_operator{"+", 8, operation::add_i, operation::add_d, true},
  binary_operator{"-", 8, operation::sub_i, operation::sub_d, true},
  binary_operator{"*", 9, operation::mul_i, operation::mul_d, true},
  binary_operator{"/", 9, operation::div_i, operation::div_d, true},
  binary_operator{"%", 9, operation::rem_i, {}, false},
};

// Of the tokens of one function's body, or of one expression.
class expression_parser {
public:
  expression_parser(std::span<const token> tokens, const program& p, const headers& names,
                    function& f)
    : tokens_(tokens), program_(p), names_(names), function_(f) {
  }

  void declare(std::string_view name, type t) {
    scope_.push_back({name, t, function_.slots++});
  }

  void parse_body() {
    function_.body = expression();
    if (peek().is != token::kind::end)
      fail(peek().where, "expected an operator or the end, found " + shown(peek()));
  }

private:
  struct variable {
    std::string_view name;
    type of;
    std::uint32_t slot;
  };

  // Brackets, prefixes and branches nest on this thread's stack before their tree exists.
  class nesting {
  public:
    explicit nesting(expression_parser& p) : parser_(p) {
      if (++parser_.open_ > most_depth)
        parser_.fail_depth(parser_.peek().where);
    }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;
    ~nesting() {
      --parser_.open_;
    }

  private:
    expression_parser& parser_;
  };

  [[noreturn]] static void fail(position where, const std::string& text) {
    throw source_error(where, text);
  }

  [[noreturn]] static void fail_depth(position where) {
    fail(where, "expressions nest deeper than " + std::to_string(most_depth)
                  + " here; name parts of it with let, or make them functions");
  }

  // -- tokens -----------------------------------------------------------------

  const token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }

  const token& take() {
    const token& t = peek();
    ++next_;
    return t;
  }

  static bool is(const token& t, std::string_view text) {
    return (t.is == token::kind::symbol || t.is == token::kind::keyword) && t.text == text;
  }

  bool take_if(std::string_view text) {
    if (!is(peek(), text))
      return false;
    ++next_;
    return true;
  }

  void expect(std::string_view text, std::string_view context) {
    if (!take_if(text))
      fail(peek().where, "expected '" + std::string(text) + "' " + std::string(context) + ", found "
                           + shown(peek()));
  }

  // -- nodes ------------------------------------------------------------------

  static node_ptr make(node::kind is, type of, position where,
                       std::vector<node_ptr> children = {}) {
    auto made = std::make_unique<node>();
    made->is = is;
    made->of = of;
    made->where = where;
    for (const node_ptr& child : children)
      made->depth = std::max(made->depth, child->depth + 1);
    if (made->depth > most_depth)
      fail_depth(where);
    made->children = std::move(children);
    return made;
  }

  static std::vector<node_ptr> list(node_ptr a, node_ptr b = nullptr, node_ptr c = nullptr) {
    std::vector<node_ptr> all;
    for (node_ptr* each : {&a, &b, &c})
      if (*each)
        all.push_back(std::move(*each));
    return all;
  }

  static node_ptr integer(std::int64_t i, position where) {
    auto made = make(node::kind::constant, type::integer, where);
    made->literal = of(i);
    return made;
  }

  static node_ptr operate(operation what, type result, position where,
                          std::vector<node_ptr> operands) {
    auto made = make(node::kind::operate, result, where, std::move(operands));
    made->what = what;
    return made;
  }

  static node_ptr conditional(node_ptr condition, node_ptr a, node_ptr b, position where) {
    const type of = a->of;
    return make(node::kind::conditional, of, where,
                list(std::move(condition), std::move(a), std::move(b)));
  }

  static void require(const node& e, type wanted, const std::string& role) {
    if (e.of == wanted)
      return;
    fail(e.where, role + " must be " + name_of(wanted) + ", not " + name_of(e.of)
                    + "; convert with " + name_of(wanted) + "(...)");
  }

  // 1 if `e` is not 0, else 0.
  static node_ptr truth(node_ptr e) {
    if (e->is == node::kind::operate && is_comparison(e->what))
      return e;
    const position where = e->where;
    return operate(operation::ne_i, type::integer, where, list(std::move(e), integer(0, where)));
  }

  // -- grammar ----------------------------------------------------------------

  node_ptr expression() {
    const nesting open(*this);
    const token& first = peek();
    if (is(first, "let"))
      return block();
    if (take_if("if")) {
      node_ptr condition = expression();
      require(*condition, type::integer, "the condition of 'if'");
      expect("then", "after the condition of 'if'");
      node_ptr a = expression();
      expect("else", "after the branch of 'then'");
      node_ptr b = expression();
      if (a->of != b->of)
        fail(b->where, std::string("the branches of 'if' must have one type, not ") + name_of(a->of)
                         + " and " + name_of(b->of) + "; convert one of them");
      return conditional(std::move(condition), std::move(a), std::move(b), first.where);
    }
    return disjunction();
  }

  // Lets that follow each other are one node, however many.
  node_ptr block() {
    const position where = peek().where;
    const std::size_t outer = scope_.size();
    std::vector<node_ptr> children;
    std::vector<std::uint32_t> slots;
    while (take_if("let")) {
      const token& name = take();
      if (name.is != token::kind::name)
        fail(name.where, "expected a name after 'let', found " + shown(name));
      expect("=", "after the name of a variable");
      children.push_back(expression());
      expect(";", "after the value of '" + std::string(name.text) + "'");
      if (function_.slots == most_slots)
        fail(name.where,
             "more than " + std::to_string(most_slots) + " variables; split the function");
      slots.push_back(function_.slots);
      declare(name.text, children.back()->of);
    }
    children.push_back(expression());
    scope_.resize(outer);
    const type of = children.back()->of;
    auto made = make(node::kind::block, of, where, std::move(children));
    made->slots = std::move(slots);
    return made;
  }

  // a || b is if a then 1 else b != 0; a && b is if a then b != 0 else 0.
  node_ptr disjunction() {
    node_ptr left = conjunction();
    while (is(peek(), "||")) {
      const position where = take().where;
      node_ptr right = conjunction();
      require(*left, type::integer, "the left side of '||'");
      require(*right, type::integer, "the right side of '||'");
      left = conditional(std::move(left), integer(1, where), truth(std::move(right)), where);
    }
    return left;
  }

  node_ptr conjunction() {
    node_ptr left = binary(comparisons_bind);
    while (is(peek(), "&&")) {
      const position where = take().where;
      node_ptr right = binary(comparisons_bind);
      require(*left, type::integer, "the left side of '&&'");
      require(*right, type::integer, "the right side of '&&'");
      left = conditional(std::move(left), truth(std::move(right)), integer(0, where), where);
    }
    return left;
  }

  static const binary_operator* find_operator(const token& t) {
    if (t.is != token::kind::symbol)
      return nullptr;
    const auto found = std::find_if(binary_operators.begin(), binary_operators.end(),
                                    [&](const binary_operator& o) { return o.text == t.text; });
    return found == binary_operators.end() ? nullptr : found;
  }

  // Operators that bind at least as tightly as `least`, from left to right.
  node_ptr binary(int least) {
    node_ptr left = unary();
    for (;;) {
      const binary_operator* o = find_operator(peek());
      if (o == nullptr || o->binds < least)
        return left;
      const position where = take().where;
      node_ptr right = binary(o->binds + 1);
      left = operate_binary(*o, where, std::move(left), std::move(right));
      const binary_operator* next = find_operator(peek());
      if (o->binds == comparisons_bind && next != nullptr && next->binds == comparisons_bind)
        fail(peek().where, "comparisons do not chain; join two of them with '&&'");
    }
  }

  static node_ptr operate_binary(const binary_operator& o, position where, node_ptr left,
                                 node_ptr right) {
    const std::string quoted = "'" + std::string(o.text) + "'";
    if (left->of != right->of)
      fail(where, "the operands of " + quoted + " must have one type, not " + name_of(left->of)
                    + " and " + name_of(right->of) + "; convert with float(...) or int(...)");
    if (left->of == type::real && !o.has_reals)
      fail(where, quoted + " is for int only; convert with int(...)");
    const bool reals = left->of == type::real;
    const type result = reals && o.binds != comparisons_bind ? type::real : type::integer;
    return operate(reals ? o.on_reals : o.on_integers, result, where,
                   list(std::move(left), std::move(right)));
  }

  node_ptr unary() {
    const nesting open(*this);
    const position where = peek().where;
    if (take_if("-")) {
      node_ptr operand = unary();
      const type of = operand->of;
      return operate(of == type::real ? operation::neg_d : operation::neg_i, of, where,
                     list(std::move(operand)));
    }
    if (take_if("!")) {
      node_ptr operand = unary();
      require(*operand, type::integer, "the operand of '!'");
      return operate(operation::eq_i, type::integer, where,
                     list(std::move(operand), integer(0, where)));
    }
    return primary();
  }

  node_ptr primary() {
    const token& t = take();
    if (t.is == token::kind::integer)
      return integer_literal(t);
    if (t.is == token::kind::real)
      return real_literal(t);
    if (t.is == token::kind::name)
      return is(peek(), "(") ? application(t) : variable_named(t);
    if (is(t, "(")) {
      node_ptr inner = expression();
      expect(")", "to close the bracket of " + at(t.where, ""));
      return inner;
    }
    fail(t.where, "expected an expression, found " + shown(t));
  }

  static node_ptr integer_literal(const token& t) {
    std::int64_t i = 0;
    if (std::from_chars(t.text.data(), t.text.data() + t.text.size(), i).ec != std::errc{})
      fail(t.where, "the number " + std::string(t.text)
                      + " does not fit into 64 bits; write it as a float, with a point");
    return integer(i, t.where);
  }

  static node_ptr real_literal(const token& t) {
    double d = 0;
    if (std::from_chars(t.text.data(), t.text.data() + t.text.size(), d).ec != std::errc{})
      fail(t.where, "the number " + std::string(t.text) + " is beyond the range of a float");
    auto made = make(node::kind::constant, type::real, t.where);
    made->literal = of(d);
    return made;
  }

  node_ptr variable_named(const token& t) {
    // The innermost one: later names hide earlier ones.
    const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                    [&](const variable& v) { return v.name == t.text; });
    if (found == scope_.rend()) {
      const std::string name(t.text);
      fail(t.where, names_.contains(t.text)
                      ? "'" + name + "' is a function; call it: " + name + "(...)"
                      : "unknown name '" + name + "'");
    }
    auto made = make(node::kind::variable, found->of, t.where);
    made->slot = found->slot;
    return made;
  }

  node_ptr application(const token& name) {
    take(); // the bracket
    std::vector<node_ptr> arguments;
    if (!is(peek(), ")")) {
      do
        arguments.push_back(expression());
      while (take_if(","));
    }
    expect(")", "after the arguments of '" + std::string(name.text) + "'");
    if (name.text == "int" || name.text == "float" || name.text == "sqrt")
      return builtin(name, std::move(arguments));
    const auto found = names_.find(name.text);
    if (found == names_.end())
      fail(name.where, "unknown function '" + std::string(name.text) + "'");
    const function& callee = program_.functions[found->second];
    if (arguments.size() != callee.parameters.size())
      fail(name.where, "wrong number of arguments: " + std::to_string(arguments.size()) + " for "
                         + signature(callee));
    for (std::size_t i = 0; i < arguments.size(); ++i)
      require(*arguments[i], callee.parameters[i],
              "argument " + std::to_string(i + 1) + " of " + signature(callee));
    auto made = make(node::kind::call, callee.result, name.where, std::move(arguments));
    made->callee = found->second;
    return made;
  }

  static node_ptr builtin(const token& name, std::vector<node_ptr> arguments) {
    if (arguments.size() != 1)
      fail(name.where, std::string(name.text) + "(...) takes one argument, not "
                         + std::to_string(arguments.size()));
    const type from = arguments[0]->of;
    if (name.text == "sqrt") {
      require(*arguments[0], type::real, "the argument of sqrt");
      return operate(operation::sqrt_d, type::real, name.where, std::move(arguments));
    }
    const type to = name.text == "int" ? type::integer : type::real;
    if (from == to)
      return std::move(arguments[0]);
    return operate(to == type::integer ? operation::to_integer : operation::to_real, to, name.where,
                   std::move(arguments));
  }

  std::span<const token> tokens_;
  const program& program_;
  const headers& names_;
  function& function_;
  std::size_t next_ = 0;
  std::uint32_t open_ = 0;
  std::vector<variable> scope_;
};

[[noreturn]] void fail(position where, const std::string& text) {
  throw source_error(where, text);
}

bool is_reserved(std::string_view name) {
  return name == "int" || name == "float" || name == "sqrt";
}

// `fn NAME(NAME: TYPE, ...): TYPE =`
class header_parser {
public:
  explicit header_parser(std::span<const token> tokens) : tokens_(tokens) {
  }

  struct header {
    function made;
    std::vector<std::string_view> names; // of the parameters
    std::size_t length = 0;              // in tokens
  };

  header parse() {
    header h;
    if (!symbol("fn"))
      expected("'fn', which begins a function");
    const token& name = named("the name of the function");
    if (is_reserved(name.text))
      fail(name.where, "'" + std::string(name.text) + "' is built in; choose another name");
    h.made.name = std::string(name.text);
    h.made.where = name.where;
    if (!symbol("("))
      expected("'(' after the name of the function");
    if (!symbol(")")) {
      do {
        const token& parameter = named("the name of a parameter");
        if (std::find(h.names.begin(), h.names.end(), parameter.text) != h.names.end())
          fail(parameter.where, "two parameters are named '" + std::string(parameter.text) + "'");
        h.names.push_back(parameter.text);
        if (!symbol(":"))
          expected("':' and the type of the parameter");
        h.made.parameters.push_back(type_name());
        if (h.names.size() > most_slots)
          fail(parameter.where, "more than " + std::to_string(most_slots) + " parameters");
      } while (symbol(","));
      if (!symbol(")"))
        expected("',' or ')' after a parameter");
    }
    if (!symbol(":"))
      expected("':' and the type of the result");
    h.made.result = type_name();
    if (!symbol("="))
      expected("'=' and the body of the function");
    h.length = next_;
    return h;
  }

private:
  const token& peek() const {
    return tokens_[std::min(next_, tokens_.size() - 1)];
  }

  [[noreturn]] void expected(const std::string& what) const {
    fail(peek().where, "expected " + what + ", found " + shown(peek()));
  }

  bool symbol(std::string_view text) {
    const token& t = peek();
    if ((t.is != token::kind::symbol && t.is != token::kind::keyword) || t.text != text)
      return false;
    ++next_;
    return true;
  }

  const token& named(const std::string& what) {
    if (peek().is != token::kind::name)
      expected(what);
    return tokens_[next_++];
  }

  type type_name() {
    const token& t = peek();
    if (t.is == token::kind::name && (t.text == "int" || t.text == "float")) {
      ++next_;
      return t.text == "int" ? type::integer : type::real;
    }
    expected("a type, int or float");
  }

  std::span<const token> tokens_;
  std::size_t next_ = 0;
};

std::vector<token> tokens_of(std::string_view source) {
  if (source.size() > most_source_bytes)
    fail({}, "the text is longer than the " + std::to_string(most_source_bytes)
               + " bytes that a program may have; split it");
  return tokenise(source);
}

} // namespace

program parse_program(std::string_view source) {
  const std::vector<token> tokens = tokens_of(source);
  const std::span all(tokens);

  struct part {
    std::vector<std::string_view> parameters;
    std::vector<token> body; // with an end of its own
  };

  // A body ends where the next 'fn' is, which expressions do not contain.
  program p;
  headers names;
  std::vector<part> parts;
  for (std::size_t next = 0; tokens[next].is != token::kind::end;) {
    header_parser::header h = header_parser(all.subspan(next)).parse();
    if (p.functions.size() == most_functions)
      fail(h.made.where, "more than " + std::to_string(most_functions) + " functions");
    next += h.length;
    part body{std::move(h.names), {}};
    while (tokens[next].is != token::kind::end
           && !(tokens[next].is == token::kind::keyword && tokens[next].text == "fn"))
      body.body.push_back(tokens[next++]);
    body.body.push_back(tokens[next]);
    body.body.back().is = token::kind::end;
    parts.push_back(std::move(body));
    p.functions.push_back(std::move(h.made));
  }
  if (p.functions.empty())
    fail({}, "there is no function here; write fn main(): int = 42");
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!names.emplace(p.functions[i].name, i).second)
      fail(p.functions[i].where, "a second function named '" + p.functions[i].name + "'");

  for (std::size_t i = 0; i < parts.size(); ++i) {
    function& f = p.functions[i];
    expression_parser body(parts[i].body, p, names, f);
    for (std::size_t k = 0; k < f.parameters.size(); ++k)
      body.declare(parts[i].parameters[k], f.parameters[k]);
    body.parse_body();
    if (f.body->of != f.result)
      fail(f.body->where, "the body of " + signature(f) + " is " + name_of(f.body->of)
                            + "; convert it, or change the type of the result");
    f.weight = frame_bytes(f);
  }
  return p;
}

function parse_expression(const program& p, std::string_view source) {
  const std::vector<token> tokens = tokens_of(source);
  headers names;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    names.emplace(p.functions[i].name, i);
  function f;
  f.name = "the request";
  expression_parser(tokens, p, names, f).parse_body();
  f.result = f.body->of;
  f.weight = frame_bytes(f);
  return f;
}

} // namespace tiered
