# SPDX-License-Identifier: Apache-2.0
# What Doxygen reads in place of a header: a comment right before the namespace is about the file, and friends of
# detail, which it takes for functions, are left out.
/^ *friend detail::.*>;$/ { next }
/^\/\/\// { comment = comment $0 "\n"; next }
{
    if (comment != "") {
        if ($0 ~ /^namespace laconic/) print "/// \\file"
        printf "%s", comment
        comment = ""
    }
    print
}
END { printf "%s", comment }
