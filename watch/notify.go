package watch

import "errors"

var (
	errNoWatches = errors.New("the system gives no more watches")
	errNoEvents  = errors.New("the system does not tell of changes")
)
