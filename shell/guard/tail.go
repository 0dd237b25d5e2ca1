package guard

import "github.com/toold/toold/shell/logs"

// ArgTail after [Arg] makes the guard read the end of a file: a [logs.Query] on its standard input, a [Tail] on its
// standard output.
const ArgTail = "tail"

// Tail is the answer: the end of the file, or why there is none.
type Tail struct {
	logs.Tail
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}
