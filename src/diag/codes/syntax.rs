//! E01xx: words and syntax of a kernel file.

crate::diag::code::codes! {
    UNEXPECTED_CHARACTER = "E0101", "character that starts no token",
"A character stands where none of the words of the language can start.

```python
x = a $ b
```

Remove it. Typographic quotes and invisible characters often come from copied text. A backslash that joins two lines \
must be the last character of its line.";
    UNTERMINATED_STRING = "E0102", "string that is not closed",
"A string in single quotes must end on the line it starts on; one in triple quotes must end before the file does.

```python
name = \"block
```

Close it with the same quotes it opens with.";
    BAD_STRING = "E0103", "string whose text cannot be decoded",
"An escape is cut short or names no character, a bytes literal holds a character outside ASCII, or text and bytes \
literals stand side by side.

```python
x = \"\\x4\"
```

Write two hexadecimal digits after `\\x`, four after `\\u`, eight after `\\U`; double the backslash if it is meant as \
one.";
    BAD_NUMBER = "E0104", "number that is not one",
"A number runs into letters, has two underscores in a row, starts with a zero it must not have, or does not fit 128 \
bits.

```python
n = 0777
m = 12ab
```

Octal numbers are written `0o777`; put a space or an operator between a number and a name.";
    UNBALANCED_BRACKET = "E0105", "brackets that do not match",
"A bracket is opened and never closed, closed without having been opened, or closed by one of another kind.

```python
x = tl.load(ptr + (a, mask=m]
```

The message points at the opening bracket. Reading resumes at the first line after it that is not indented deeper than \
its statement.";
    INDENTATION = "E0106", "indentation that fits no block",
"A line is indented deeper without a header above it, less deep but like no open block, or by tabs and spaces in a mix \
whose meaning depends on the width of a tab.

```python
def f():
    x = 1
      y = 2
```

Align the line with its block, and indent with spaces only.";
    UNEXPECTED_TOKEN = "E0107", "word where another was expected",
"The line does not follow the grammar at this place.

```python
x = a b
```

The message says what could have stood there. Often an operator, a comma or a closing bracket is missing just before \
it.";
    MISSING_COLON = "E0108", "header without its colon",
"`if`, `elif`, `else`, `for`, `while`, `with` and `def` end their header with a colon.

```python
if x > 0
    y = 1
```

Add `:` at the end of the header.";
    MISSING_BLOCK = "E0109", "header without a block",
"What a header governs must be indented below it or stand behind its colon.

```python
if x > 0:
y = 1
```

Indent the block, or write `pass` if it is empty.";
    BAD_TARGET = "E0110", "something that cannot be assigned to",
"Only names, attributes, subscripts and tuples or lists of them can stand on the left of `=`, after `for`, after `as` \
and after `del`; an augmented or annotated assignment takes one of the first three.

```python
a + b = c
```

Assign to a name. A comparison is written `==`.";
    BAD_PARAMETERS = "E0111", "parameter list that makes no sense",
"A parameter is declared twice, one without a default follows one that has one, or `/`, `*` and `**` stand in the \
wrong order.

```python
def f(a=1, b): ...
```

The order is: positional parameters, `/`, normal ones, `*` or `*args`, keyword-only ones, `**kwargs`. Among those \
before `*`, the ones with defaults come last.";
    BAD_ARGUMENTS = "E0112", "argument list that makes no sense",
"A positional argument follows a keyword argument, a keyword is given twice, or a generator stands among other \
arguments without parentheses.

```python
tl.load(mask=m, ptr)
```

Put positional arguments first.";
    TOO_DEEP = "E0113", "nesting that is too deep",
"Blocks may nest 100 deep, and f-strings four deep in each other's fields. One expression may have 500 levels of \
operators, brackets and calls, and one `if` may have 500 branches.

```python
x = ((((((…))))))
```

Give parts of the expression names, or move inner blocks into functions.";
    TOO_MANY_ERRORS = "E0114", "more errors than are shown",
"Only the first 50 syntax errors of a file are shown. Fix those first: many of the others may follow from them.

```python
x = = 1  # fifty times
```";
    BAD_FSTRING = "E0115", "f-string whose fields make no sense",
"A field of an f-string is empty, is not closed, or is closed without being open; or the letter after `!` is not `r`, \
`s` or `a`.

```python
f\"{x\"
```

Write `{{` and `}}` for braces that are text.";
    IMAGINARY = "E0116", "complex number in a kernel",
"Kernels have no complex type.

```python
x = 2j
```

Keep the real and the imaginary part in two values.";
    FOREIGN_OPERATOR = "E0117", "operator of another language",
"`&&`, `||`, `!`, `++`, `--`, `<>`, `===`, `? :` and `else if` are not operators of the language.

```python
if a && b: pass
```

Write `and`, `or`, `not`, `+= 1`, `-= 1`, `!=`, `==`, `a if c else b` and `elif`; for tensors use `&`, `|` and `~`.";
    KEYWORD_AS_NAME = "E0118", "keyword used as a name",
"Words like `in`, `is`, `lambda` and `from` are part of the grammar and cannot be names.

```python
lambda = 0.5
```

Choose another name.";
    ASSIGNMENT_IN_EXPRESSION = "E0119", "assignment inside an expression",
"`=` assigns and is a statement; a comparison is written `==`.

```python
if x = 1:
    pass
```

Write `==` to compare, or `(x := 1)` to assign inside an expression.";
    STRAY_CLAUSE = "E0120", "clause without its statement",
"`elif` and `else` must follow the block of an `if`, `for`, `while` or `try` at the same indentation, and a decorator \
must stand directly above a function or class.

```python
x = 1
else:
    y = 2
```

Check the indentation of the clause against the statement it belongs to.";
    NUL_BYTE = "E0121", "file that is not text",
"The file holds a byte with the value zero, which no source text has.

```text
\\x00
```

Check that the path names a source file and not a compiled one.";
    MERGE_CONFLICT = "E0122", "merge conflict that is not resolved",
"A version control system could not merge two versions of the file and left both in it, between lines of `<`, `=` and \
`>`.

```text
<<<<<<< HEAD
BLOCK = 64
=======
BLOCK = 128
>>>>>>> wider
```

Keep one of the versions and remove the lines of `<`, `=` and `>`.";
}
