package ignore

import (
	"path/filepath"
	"strings"
)

// gitConfig is what counts here of git's configuration.
type gitConfig struct {
	excludesFile string
	ignoreCase   bool
	sha256       bool // the repository's object names are long
}

// gitConfig reads the system's, the user's and the repository's configuration, where the later file wins.
func (h *host) gitConfig(repo string) gitConfig {
	dir := h.Config
	if dir == "" && h.Home != "" {
		dir = filepath.Join(h.Home, ".config")
	}
	cfg := gitConfig{}
	files := []string{h.System}
	if dir != "" {
		cfg.excludesFile = filepath.Join(dir, "git", "ignore")
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	if h.Home != "" {
		files = append(files, filepath.Join(h.Home, ".gitconfig"))
	}
	if repo != "" {
		files = append(files, filepath.Join(repo, "config"))
	}
	for _, f := range files {
		h.readConfig(f, &cfg, 0)
	}
	return cfg
}

// maxIncludes is how deep include.path is followed, as in git.
const maxIncludes = 10

func (h *host) readConfig(file string, cfg *gitConfig, depth int) {
	data := h.read(file)
	if data == nil || depth > maxIncludes {
		return
	}
	parseConfig(string(data), func(section, key, value string) {
		switch section + "." + key {
		case "core.excludesfile":
			cfg.excludesFile = h.expand(value, filepath.Dir(file))
		case "include.path":
			h.readConfig(h.expand(value, filepath.Dir(file)), cfg, depth+1)
		default:
			cfg.set(section, key, value)
		}
	})
}

// set takes a setting that names no file.
func (cfg *gitConfig) set(section, key, value string) {
	switch section + "." + key {
	case "core.ignorecase":
		cfg.ignoreCase = isTrue(value)
	case "extensions.objectformat":
		cfg.sha256 = value == "sha256"
	}
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// expand makes a path of the configuration absolute. "" stays "": it switches the file off.
func (h *host) expand(p, dir string) string {
	switch {
	case p == "":
		return ""
	case strings.HasPrefix(p, "~/"):
		if h.Home == "" {
			return ""
		}
		return filepath.Join(h.Home, p[2:])
	}
	return absolute(dir, p)
}

// parseConfig calls set for every setting of a section without a sub-section, names in lower case. What it cannot read it
// skips: git itself complains about that.
func parseConfig(text string, set func(section, key, value string)) {
	section := ""
	for text != "" {
		var line string
		line, text = logicalLine(text)
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			var head string
			head, line, _ = strings.Cut(line[1:], "]")
			section = strings.ToLower(strings.TrimSpace(head))
			line = strings.TrimSpace(line)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, given := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !given {
			key, _, _ = strings.Cut(key, "#")
			set(section, strings.TrimSpace(key), "true")
			continue
		}
		set(section, key, unquote(value))
	}
}

// logicalLine cuts off the first line with the lines that continue it.
func logicalLine(text string) (line, rest string) {
	for {
		head, tail, more := strings.Cut(text, "\n")
		head = strings.TrimSuffix(head, "\r")
		n := len(head) - len(strings.TrimRight(head, `\`))
		if n%2 == 0 || !more {
			return line + head, tail
		}
		line += head[:len(head)-1]
		text = tail
	}
}

// unquote reads a value: quotes, escapes, and a comment at its end.
func unquote(s string) string {
	var b strings.Builder
	quoted, end := false, 0
	s = strings.TrimLeft(s, " \t")
loop:
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			c = escaped(s[i])
		case !quoted && (c == '#' || c == ';'):
			break loop
		case !quoted && (c == ' ' || c == '\t'):
			b.WriteByte(c)
			continue
		}
		b.WriteByte(c)
		end = b.Len()
	}
	return b.String()[:end]
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
