# Exit status 0 if the input is exactly one JSON value.
{ text = text $0 "\n" }
function skip() { sub(/^[ \t\r\n]+/, "", text) }
function take(pattern) {
    skip()
    if (match(text, pattern) != 1) return 0
    text = substr(text, RLENGTH + 1)
    return 1
}
function string() { return take("\"([^\"\\\\]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])*\"") }
function value() {
    if (take("\\{")) {
        if (take("\\}")) return 1
        do if (!string() || !take(":") || !value()) return 0
        while (take(","))
        return take("\\}")
    }
    if (take("\\[")) {
        if (take("\\]")) return 1
        do if (!value()) return 0
        while (take(","))
        return take("\\]")
    }
    return string() || take("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?") || take("true") || take("false") || take("null")
}
END {
    sound = value()
    skip()
    exit !(sound && text == "")
}
