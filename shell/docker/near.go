package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
)

// near says which containers there are, those with a similar name first.
func (e *Engine) near(ctx context.Context, name string) string {
	names, err := e.names(ctx)
	if err != nil || len(names) == 0 {
		return ""
	}
	return "; there are: " + strings.Join(shell.Nearest(name, names, 8), ", ")
}

// names gives the names of all containers, running or not.
func (e *Engine) names(ctx context.Context) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, e.limits.Quick)
	defer stop()
	list, err := e.api.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		return nil, e.unreachable(err)
	}
	var names []string
	for _, c := range list {
		for _, n := range c.Names {
			// a slash within is a link of another container
			if n = strings.TrimPrefix(n, "/"); !strings.Contains(n, "/") {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
