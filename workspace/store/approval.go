package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// The outcomes that the store itself gives and looks for.
const (
	ApprovalPending   = "pending"   // nobody has answered
	ApprovalCancelled = "cancelled" // the daemon ended before anybody did
)

// Approval is one row of the approvals log: what was asked, and what became of it.
type Approval struct {
	ID        string
	Time      time.Time // when it was asked
	Workspace string
	Run       string
	Turn      string
	Agent     string // who asked
	Client    string
	Tool      string
	Arguments json.RawMessage // as they were shown
	Path      string          // the resolved path, or ""
	Digest    string          // what the answer is bound to
	Detail    json.RawMessage // what else was shown: reasons, spans, the deadline
	Outcome   string
	Answered  time.Time // zero while it is pending
	By        string    // who answered
	Reason    string
	Rule      string // the rule that was saved with the answer, or that decided
}

const approvalColumns = `id, time, workspace, run, turn, agent, client, tool, arguments, path, digest, detail, outcome, answered, answered_by, reason, rule`

func scanApproval(r scanner) (Approval, error) {
	var a Approval
	var at, answered int64
	var arguments, detail string
	err := r.Scan(&a.ID, &at, &a.Workspace, &a.Run, &a.Turn, &a.Agent, &a.Client, &a.Tool, &arguments, &a.Path, &a.Digest, &detail, &a.Outcome, &answered, &a.By, &a.Reason, &a.Rule)
	a.Time, a.Answered, a.Arguments, a.Detail = unstamp(at), unstamp(answered), raw(arguments), raw(detail)
	return a, err
}

// RecordApproval writes the row of an approval, durably, in place of what it said before, whatever has become of
// ctx. It gives the id.
func (s *Store) RecordApproval(_ context.Context, a Approval, events ...Event) (string, error) {
	now := s.now()
	if a.ID == "" {
		a.ID = newID(now)
	}
	if a.Time.IsZero() {
		a.Time = now
	}
	if a.Outcome == "" {
		a.Outcome = ApprovalPending
	}
	err := s.writer.do(&task{durable: true, run: func(t *tx) error {
		err := t.exec(`INSERT INTO approvals (`+approvalColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET
			detail = excluded.detail, outcome = excluded.outcome, answered = excluded.answered, answered_by = excluded.answered_by, reason = excluded.reason, rule = excluded.rule`,
			a.ID, stamp(a.Time), a.Workspace, a.Run, a.Turn, a.Agent, a.Client, a.Tool, string(a.Arguments), a.Path, a.Digest, string(a.Detail), a.Outcome, stamp(a.Answered), a.By, a.Reason, a.Rule)
		if err != nil {
			return err
		}
		return t.addEvents(now, events)
	}})
	if err != nil {
		return "", fmt.Errorf("log the approval %s: %w", a.ID, err)
	}
	return a.ID, nil
}

// orphanApprovals closes the questions of a daemon that ended.
func (t *tx) orphanApprovals(now time.Time) error {
	return t.exec(`UPDATE approvals SET outcome = ?, answered = ?, reason = 'the daemon ended before it was answered' WHERE outcome = 'pending'`, ApprovalCancelled, stamp(now))
}

// Approval gives one row of the approvals log; the error is [ErrNotFound] when there is none with that id.
func (s *Store) Approval(ctx context.Context, id string) (Approval, error) {
	a, err := scanApproval(s.row(ctx, `SELECT `+approvalColumns+` FROM approvals WHERE id = ?`, id))
	if err != nil {
		return Approval{}, fmt.Errorf("read the approval %s: %w", id, translate(err))
	}
	return a, nil
}

// Approvals lists approvals, newest first, and gives the id to go on with when there are more.
func (s *Store) Approvals(ctx context.Context, f Filter) ([]Approval, string, error) {
	w := f.where()
	if err := s.after(ctx, w, "approvals", f.Before); err != nil {
		return nil, "", fmt.Errorf("list the approvals: %w", err)
	}
	all, next, err := page(ctx, s, "approvals", approvalColumns, w, f.Limit, scanApproval, func(a Approval) string { return a.ID })
	if err != nil {
		return nil, "", fmt.Errorf("list the approvals: %w", err)
	}
	return all, next, nil
}
