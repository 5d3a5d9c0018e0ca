# images.awk - C text from a register header and recorded register images, for the boards here.
#
#   awk -v tick_us=50000 -f images.awk REGISTERS_DIR/registers.h IMAGES_FILE > images.h
#
# The header is that of `swarmyard gen header`: it says which registers are commands ("[write, 16 bits").
# An image is a line of hex digits: the bytes of the registers from address 0 on.

function hex(text,    value, k) {
    text = tolower(text)
    for (k = 1; k <= length(text); k++) value = value * 16 + index("0123456789abcdef", substr(text, k, 1)) - 1
    return value
}

function complain(what) {
    print "images.awk: " FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
    exit 1
}

FILENAME == ARGV[1] {
    if (match($0, /\[(read|write|port)[^0-9]*[0-9]+ bits/)) {
        split(substr($0, RSTART + 1, RLENGTH - 1), words, /[ ,]+/)
        writes = words[1] == "write"
        bytes = words[2] / 8
    }
    if ($1 == "#define" && $3 ~ /^0x[0-9a-fA-F]+u$/ && writes) {
        at = hex(substr($3, 3, length($3) - 3))
        name = $2
        count = 1
        for (k = 0; k < bytes; k++) command[at + k] = 1
        if (at + bytes > last) last = at + bytes
    }
    if ($1 == "#define" && $2 == name "_COUNT" && writes) {
        for (k = 0; k < bytes * (0 + $3); k++) command[at + k] = 1
        if (at + bytes * (0 + $3) > last) last = at + bytes * (0 + $3)
    }
    next
}

/^[ \t\r]*$/ { next }

{
    gsub(/[ \t\r]/, "")
    if ($0 !~ /^([0-9a-fA-F][0-9a-fA-F])+$/) complain("not a line of hex bytes")
    if (images == 0) {
        size = length($0) / 2
        if (size > 4096) complain("more than 4096 bytes of registers")
        if (size < last) complain("an image ends before the last command register")
        print "static const uint8_t images[][" size "] = {"
    }
    if (length($0) != 2 * size) complain("not as long as the first image")
    line = ""
    for (k = 1; k < length($0); k += 2) line = line "0x" substr($0, k, 2) ","
    print "{" line "},"
    images++
}

END {
    if (failed) exit 1
    if (images == 0) { print "images.awk: no image" > "/dev/stderr"; exit 1 }
    print "};"
    line = ""
    for (k = 0; k < last; k++) if (k in command) { line = line k ","; commands++ }
    if (commands == 0) { print "images.awk: no command register" > "/dev/stderr"; exit 1 }
    print "static const uint16_t commands[] = {" line "};"
    print "enum { IMAGE_COUNT = " images ", IMAGE_BYTES = " size ", COMMAND_COUNT = " commands ", TICK_US = " tick_us " };"
}
