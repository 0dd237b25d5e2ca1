package logs

import (
	"context"

	"github.com/toold/toold/shell"
)

func (r *Reader) docker(ctx context.Context, q Query) (Tail, error) {
	if r.Containers == nil {
		return Tail{}, shell.Errorf(shell.EngineUnreachable, nil, "no docker engine is configured")
	}
	if q.Filter != "" {
		f := newForward(q)
		_, err := r.Containers.Logs(ctx, q.Target, 0, f.take)
		if err != nil {
			return Tail{}, err
		}
		return f.tail(true), nil
	}
	// A line may be stored in several pieces, and the first of the wanted ones may be the middle of a line: ask for
	// more until there is one line too many.
	for pieces := q.Lines + 1; ; pieces *= 4 {
		f := newForward(q)
		received, err := r.Containers.Logs(ctx, q.Target, pieces, f.take)
		if err != nil {
			return Tail{}, err
		}
		if all := received < pieces; all || f.total > int64(q.Lines) || f.late {
			return f.tail(all), nil
		}
	}
}
