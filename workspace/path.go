package workspace

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// ParsePath normalises a path as an agent wrote it. It trims blanks, strips the container root or the host root at a
// component border, else one leading "workspace/" segment (unless the workspace has a folder of that name), cleans,
// and refuses what leaves the root. It says nothing about whether the file exists; confinement against symbolic links
// is by descriptor, when the path is opened.
func (w *Workspace) ParsePath(text string) (Path, error) {
	p := strings.Trim(text, " \t\r\n\v\f")
	if p == "" {
		return "", errorf("invalid_argument", "the path is empty; give a file path relative to the workspace root, such as src/main.go")
	}
	if q, ok := unquoted(p); ok {
		p = q
	}
	if strings.ContainsRune(p, 0) {
		return "", errorf("invalid_argument", "the path contains a NUL byte, which no file name can")
	}
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		u, err := url.PathUnescape(rest)
		if err != nil || !strings.HasPrefix(u, "/") {
			return "", errorf("invalid_argument", "%s is not a file URL of this machine; give a path relative to the workspace root", strconv.Quote(text))
		}
		p = u
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		return "", errorf("outside_workspace", "%s is in the home folder, outside of the workspace; paths are relative to the workspace root", p)
	}
	if path.IsAbs(p) {
		return w.parseAbsolute(p)
	}
	return w.parseRelative(p)
}

func (w *Workspace) parseAbsolute(p string) (Path, error) {
	clean := path.Clean(p)
	best, found := "", false
	for _, root := range []string{w.root, w.real, w.opts.ContainerRoot} {
		if rel, ok := below(root, clean); ok && (!found || len(rel) < len(best)) {
			best, found = rel, true
		}
	}
	if !found {
		return "", errorf("outside_workspace", "%s is outside of the workspace; paths are relative to its root (%s)", clean, w.root)
	}
	return Path(best), nil
}

func (w *Workspace) parseRelative(p string) (Path, error) {
	clean := path.Clean(p)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errorf("outside_workspace", "%s leads out of the workspace; paths are relative to its root and stay below it", clean)
	}
	if rel, ok := below("workspace", clean); ok && !w.hasFolder("workspace") {
		clean = rel
	}
	return Path(clean), nil
}

// below gives p relative to root when root is p or an ancestor of it, compared by whole components.
func below(root, p string) (string, bool) {
	if root == "" {
		return "", false
	}
	if p == root {
		return ".", true
	}
	if root == "/" {
		return strings.TrimPrefix(p, "/"), strings.HasPrefix(p, "/")
	}
	rest, ok := strings.CutPrefix(p, root+"/")
	return rest, ok
}

// unquoted reads the form in which names with control characters are shown: a quoted Go string. Any other text in
// quotes stays as it is, since quotes are ordinary characters of names.
func unquoted(p string) (string, bool) {
	if len(p) < 2 || p[0] != '"' {
		return "", false
	}
	q, err := strconv.Unquote(p)
	return q, err == nil && show(Path(q)) == p
}

// show gives a path as texts show it: as it is, or as a quoted Go string when it has characters that could break a
// line or hide something.
func show(p Path) string { return ShowName(string(p)) }

// ShowName gives a name as texts show it: as it is, or as a quoted Go string when it has characters that could break
// a line or hide something. ParsePath accepts both forms.
func ShowName(s string) string {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return strconv.QuoteToASCII(s)
		}
	}
	return s
}

// Dir gives the folder that p is in.
func (p Path) Dir() Path { return Path(path.Dir(string(p))) }

// Base gives the last part of p.
func (p Path) Base() string { return path.Base(string(p)) }

// Ext gives the extension in lower case, with its dot, or "".
func (p Path) Ext() string { return strings.ToLower(path.Ext(string(p))) }

// parts gives the components of p; none for the root.
func (p Path) parts() []string {
	if p == "." || p == "" {
		return nil
	}
	return strings.Split(string(p), "/")
}

// protected gives the reason why agents may not write p, or "".
func (w *Workspace) protected(p Path) string {
	parts := p.parts()
	for _, part := range parts {
		if strings.EqualFold(part, ".git") {
			return "it is git's own data (hooks there run code on the host); use run_shell with git"
		}
	}
	if len(parts) > 0 && parts[0] == outputDir {
		return fmt.Sprintf("%s/ holds toold's own stored outputs", outputDir)
	}
	for _, name := range w.opts.Protected {
		if matchProtected(name, parts) {
			return fmt.Sprintf("the configuration protects %s", name)
		}
	}
	return ""
}

// matchProtected tells whether a pattern of the configuration covers the path: a pattern with a slash is matched from
// the root, one without matches a component at any depth. What lies below a protected folder is protected too.
func matchProtected(pattern string, parts []string) bool {
	if strings.Contains(strings.Trim(pattern, "/"), "/") {
		pattern = strings.Trim(pattern, "/")
		for i := range parts {
			if ok, _ := path.Match(pattern, strings.Join(parts[:i+1], "/")); ok {
				return true
			}
		}
		return false
	}
	for _, part := range parts {
		if ok, _ := path.Match(strings.Trim(pattern, "/"), part); ok {
			return true
		}
	}
	return false
}
