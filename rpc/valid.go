package rpc

// maxDepth is how deep JSON may be nested; the decoder that reads it afterwards takes no more either.
const maxDepth = 10000

// validJSON tells whether data is one JSON value. It is json.Valid at several times the speed on long strings, of which
// most of what is sent consists.
func validJSON(data []byte) bool {
	i, ok := skipValue(data, skipBlank(data, 0), 0)
	return ok && skipBlank(data, i) == len(data)
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue gives the end of the value that begins at i.
func skipValue(b []byte, i, depth int) (int, bool) {
	if i >= len(b) || depth > maxDepth {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{':
		return skipMembers(b, i+1, depth+1, '}', skipMember)
	case '[':
		return skipMembers(b, i+1, depth+1, ']', skipValue)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) (int, bool) {
	end := i + len(word)
	return end, end <= len(b) && string(b[i:end]) == word
}

// skipMembers gives the end of an object or array whose bracket was before i.
func skipMembers(b []byte, i, depth int, end byte, member func([]byte, int, int) (int, bool)) (int, bool) {
	if i = skipBlank(b, i); i < len(b) && b[i] == end {
		return i + 1, depth <= maxDepth
	}
	for {
		var ok bool
		if i, ok = member(b, skipBlank(b, i), depth); !ok {
			return i, false
		}
		if i = skipBlank(b, i); i >= len(b) {
			return i, false
		}
		if b[i] == end {
			return i + 1, true
		}
		if b[i] != ',' {
			return i, false
		}
		i++
	}
}

func skipMember(b []byte, i, depth int) (int, bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	i, ok := skipString(b, i)
	if i = skipBlank(b, i); !ok || i >= len(b) || b[i] != ':' {
		return i, false
	}
	return skipValue(b, skipBlank(b, i+1), depth)
}

func skipString(b []byte, i int) (int, bool) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c < ' ':
			return i, false
		case c == '\\':
			n := escapeLength(b[i:])
			if n == 0 {
				return i, false
			}
			i += n - 1
		}
	}
	return i, false
}

// escapeLength gives the length of the escape that b begins with, or 0.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := escapedUnit(b, 0); ok {
			return 6
		}
	}
	return 0
}

func skipNumber(b []byte, i int) (int, bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	ok := false
	if i < len(b) && b[i] == '0' {
		i, ok = i+1, true
	} else {
		i, ok = skipDigits(b, i)
	}
	if ok && i < len(b) && b[i] == '.' {
		i, ok = skipDigits(b, i+1)
	}
	if ok && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i, ok = skipDigits(b, i)
	}
	return i, ok
}

func skipDigits(b []byte, i int) (int, bool) {
	begin := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i, i > begin
}
