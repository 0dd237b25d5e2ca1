package engine

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/watch"
	"github.com/toold/toold/workspace"
)

// openSpace opens a workspace with its watcher and its guards.
func (e *Engine) openSpace(root string) (*Space, error) {
	settings, err := e.opts.Settings(root)
	if err != nil {
		return nil, err
	}
	sp := &Space{settings: settings}
	sp.W, err = workspace.Open(root, e.opts.Files, workspace.Options{
		ContainerRoot: settings.ContainerRoot, Protected: settings.Protected, MaxFileBytes: settings.MaxFileBytes, Log: e.opts.Log,
		Checkers: []workspace.Checker{e.guards(sp)},
		Changed:  func(paths ...string) { sp.Tree.Changed(paths...) },
		Ignored:  func(path string, folder bool) bool { return sp.Tree.Ignored(path, folder) },
	})
	if err != nil {
		return nil, err
	}
	sp.Tree, err = watch.Open(sp.W.Real(), watch.Options{Ignore: settings.Ignore, Skip: workspace.IsTemp, RuntimeDir: e.opts.RuntimeDir, CacheDir: e.opts.CacheDir, Log: e.opts.Log})
	if err != nil {
		sp.W.Close()
		return nil, err
	}
	return sp, nil
}

func (s *Space) indexState() any { return s.Tree.Status() }

func workspaceStatus(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	_, space := c.state()
	return map[string]any{
		"root": space.W.Root(), "id": space.W.Real(), "generation": space.W.Generation(), "index": space.indexState(), "settings": space.settings,
	}, nil
}

func daemonStatus(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var spaces []map[string]any
	for _, sp := range e.spaces.all() {
		spaces = append(spaces, map[string]any{"root": sp.W.Root(), "index": sp.indexState()})
	}
	slices.SortFunc(spaces, func(a, b map[string]any) int { return strings.Compare(a["root"].(string), b["root"].(string)) })
	e.mu.Lock()
	var clients []map[string]any
	for _, k := range e.conns {
		h, _ := k.state()
		clients = append(clients, map[string]any{"id": k.ID, "name": h.ClientInfo.Name, "version": h.ClientInfo.Version, "agent": k.agent(), "root": h.Workspace.Root, "pid": k.PID})
	}
	e.mu.Unlock()
	runs, err := e.opts.Store.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"version": e.opts.Version, "protocol": Protocol, "pid": os.Getpid(), "uptime_seconds": int(e.opts.Now().Sub(e.started).Seconds()),
		"workspaces": spaces, "clients": clients, "open_runs": runs, "pending_approvals": 0,
		"memory": map[string]any{"heap_bytes": m.HeapAlloc, "system_bytes": m.Sys, "rss_bytes": residentBytes(), "goroutines": runtime.NumGoroutine()},
		"limits": map[string]any{"max_frame_bytes": e.opts.FrameLimit}, "wire": e.opts.Counters(),
	}, nil
}

// residentBytes gives the memory of this process that is in RAM, or 0 where the system does not tell.
func residentBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	var pages int64
	if json.Unmarshal([]byte(fields[1]), &pages) != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func daemonStop(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	e.opts.Log.Info("asked to stop", "conn", c.ID, "pid", c.PID)
	e.opts.Stop(false)
	return map[string]any{"pid": os.Getpid(), "stopping": true}, nil
}

func toolsList(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	h, _ := c.state()
	infos := []tool.Info{}
	for _, t := range e.opts.Tools.All() {
		if h.visible(t.Spec) {
			infos = append(infos, t.Info())
		}
	}
	return map[string]any{"tools": infos}, nil
}

func editorDirty(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Path  string `json:"path"`
		Dirty bool   `json:"dirty"`
	}](raw)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	path, err := space.W.ParsePath(p.Path)
	if err != nil {
		return nil, faultOf(err)
	}
	_, key, err := space.W.RealPath(path)
	if err != nil {
		return nil, faultOf(err)
	}
	e.opts.Files.SetDirty(c.ID, key, p.Dirty)
	return map[string]any{}, nil
}
