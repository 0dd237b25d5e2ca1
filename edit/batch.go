package edit

import "fmt"

// ApplyAll carries out several edits of one text, each on the outcome of the one before. The line numbers of all are
// those of the text as it was before the first: nobody has seen the versions in between. A refusal names the edit by
// its number, from 1, and nothing is changed.
func ApplyAll(before []byte, existed bool, reqs []Request) ([]Plan, error) {
	plans := make([]Plan, 0, len(reqs))
	text := before
	for i, req := range reqs {
		if i > 0 && req.Seen == nil {
			req.Seen = &Seen{Text: before, By: "an earlier edit of this call"}
		}
		p, err := Apply(text, existed, req)
		if e, ok := err.(*Error); ok {
			return nil, &Error{Code: e.Code, Line: e.Line, Text: fmt.Sprintf("edit %d of %d: %s", i+1, len(reqs), e.Text)}
		}
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
		text, existed = p.After, true
	}
	return plans, nil
}
