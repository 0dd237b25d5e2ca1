package shell

import (
	"regexp"
	"sync"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// Redact gives s without the secrets whose shape is known: the tokens of well-known services, private keys, JSON web
// tokens, passwords in URLs, authorization headers, and the values of options and variables that are named like a
// secret. It cannot know others; the command log keeps no environment for that reason.
func Redact(s string) string {
	for _, r := range redactions() {
		s = r.shape.ReplaceAllString(s, r.with)
	}
	return s
}

// CarriesSecret reports whether [Redact] finds a secret in s.
func CarriesSecret(s string) bool { return Redact(s) != s }

type redaction struct {
	shape *regexp.Regexp
	with  string
}

const (
	// value is a shell word or the text up to where one ends: quoted, or bare.
	value = `("(?:[^"\\]|\\.)*"|'[^']*'|(?:\\.|[^\s"'\\;&|<>()])+)`
	// secretName is a name or the part of a name after which a secret stands.
	secretName = `(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|apikey|access[-_]?key|private[-_]?key|secret[-_]?key|auth[-_]?key|credentials?|client[-_]?secret)`
)

// redactions are compiled at their first use: most programs that link this package never redact.
var redactions = sync.OnceValue(func() []redaction {
	shapes := [][2]string{
		{`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`, Redacted},
		{`\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b`, Redacted},
		{`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`, Redacted},
		{`\bgl(?:pat|dt|ptt|rt|cbt|soat|agent|ft|imt)-[A-Za-z0-9_.-]{16,}`, Redacted},
		{`\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{8,}`, Redacted},
		{`\bxapp-\d-[A-Za-z0-9-]{8,}`, Redacted},
		{`https://hooks\.slack\.com/services/[A-Za-z0-9/_-]+`, "https://hooks.slack.com/services/" + Redacted},
		{`\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}`, Redacted},
		{`\bwhsec_[A-Za-z0-9]{16,}`, Redacted},
		{`\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bAIza[A-Za-z0-9_-]{35}`, Redacted},
		{`\bya29\.[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bGOCSPX-[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bnpm_[A-Za-z0-9]{30,}`, Redacted},
		{`\bpypi-[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bhf_[A-Za-z0-9]{20,}`, Redacted},
		{`\bdop_v1_[a-f0-9]{32,}`, Redacted},
		{`\bdckr_pat_[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bhv[sb]\.[A-Za-z0-9_-]{20,}`, Redacted},
		{`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, Redacted},
		{`\bkey-[a-f0-9]{32}\b`, Redacted},
		{`\b(?:AC|SK)[a-f0-9]{32}\b`, Redacted},
		{`\bAGE-SECRET-KEY-1[A-Z0-9]{50,}`, Redacted},
		{`\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b`, Redacted},
		{`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`, Redacted},
		// scheme://user:password@host, and a lone token before the @
		{`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*):[^\s/@"']+@`, "${1}:" + Redacted + "@"},
		{`(https?://)[^\s/:@"']{16,}@`, "${1}" + Redacted + "@"},
		// headers, in every way of quoting
		{`(?i)((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token|digest|negotiate|apikey)\s+)?)[^\s"',;]+`, "${1}" + Redacted},
		{`(?i)(\b(?:x-[a-z-]*(?:key|token|auth|secret)|private-token|job-token|cookie|set-cookie)["']?\s*:\s*)[^"'\n]+`, "${1}" + Redacted},
		{`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}`, "${1}" + Redacted},
		// name=value, "name": "value", --name value
		{`(?i)((?:\b|_)` + secretName + `["']?\s*(?:=|:=|:\s))\s*` + value, "${1}" + Redacted},
		{`(?i)((?:^|\s)--?[a-z0-9-]*` + secretName + `)\s+` + value, "${1} " + Redacted},
		// curl -u user:password, mysql -ppassword, sshpass -p password
		{`(\b(?:curl|wget|ab|hey|http|https|lftp|mosquitto_pub|mosquitto_sub)\b[^\n;|&]*?\s(?:-u|--user|-U|--proxy-user)[ =]?["']?[^\s:"'/]+):[^\s"']+`, "${1}:" + Redacted},
		{`(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n;|&]*?\s-p)` + value, "${1}" + Redacted},
		{`(\bsshpass\s+-p\s*)` + value, "${1}" + Redacted},
	}
	list := make([]redaction, len(shapes))
	for i, s := range shapes {
		list[i] = redaction{regexp.MustCompile(s[0]), s[1]}
	}
	return list
})
