package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/toold/toold/rpc"
)

// showProgress prints on a terminal what the daemon reports of a call that takes over a second. The function it gives
// ends that and clears the line.
func showProgress(w io.Writer, client *rpc.Client) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	var last atomic.Value
	client.OnNotification(func(method string, params json.RawMessage) {
		var p struct {
			Value struct {
				Message  string
				Done, Of int
			}
		}
		if method == "$/progress" && json.Unmarshal(params, &p) == nil {
			last.Store(progressText(p.Value.Message, p.Value.Done, p.Value.Of))
		}
	})
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		begun := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				text, _ := last.Load().(string)
				if text == "" {
					text = "working"
				}
				fmt.Fprintf(w, "\r\x1b[K%s (%ds)", text, int(now.Sub(begun).Seconds()))
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		fmt.Fprint(w, "\r\x1b[K")
	}
}

func progressText(message string, done, of int) string {
	if of > 0 {
		return fmt.Sprintf("%s %d%%", message, 100*done/of)
	}
	return message
}
