package store

import (
	"regexp"
	"strings"
	"testing"

	"cw/internal/cw"
)

// planOf tells how a statement is answered.
func (b *bench) planOf(statement string) string {
	b.t.Helper()
	var steps []struct{ Detail string }
	b.must(b.state.read.Raw("EXPLAIN QUERY PLAN " + strings.ReplaceAll(statement, `"`, "'")).Scan(&steps).Error)
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.Detail)
	}
	return strings.Join(lines, "\n")
}

// TestLifeUsesIndexes: what is asked at every start, every end of a run and
// every look at the inbox reads the rows that it is about, however many others
// there are.
func TestLifeUsesIndexes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, "Which?", "When?", "Why?")
	b.queue(in.Agent.ID, "waits")
	must := func(_ any, err error) { b.must(err) }
	open := []cw.QuestionStatus{cw.QuestionOpen}
	questions, err := b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1}})
	b.must(err)
	openQuestions, err := b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1}, Statuses: open})
	b.must(err)
	messages, err := b.MessagePage(t.Context(), in.Agent.ID, cw.PageQuery{Limit: 1})
	b.must(err)
	for _, c := range []struct {
		name, from string
		indexes    []string
		do         func()
	}{
		{"agents that can go on", "FROM agents a", []string{"agents_status", "messages_undelivered", "conversations_wake", "questions_agent", "ops_agent"}, func() { must(b.ReadyAgents(t.Context())) }},
		{"open operations", "FROM `ops`", []string{"ops_open"}, func() { must(b.OpenOps(t.Context(), cw.OpCleanUp, cw.OpRemove)) }},
		{"texts of a run", "FROM `messages`", []string{"messages_run"}, func() { must(b.RunMessages(t.Context(), in.Run.ID)) }},
		{"texts that wait", "COUNT(*) AS count FROM messages", []string{"messages_run"}, func() { must(b.AgentView(t.Context(), "brave-otter")) }},
		{"operations of agents", "`agent_id` FROM `ops`", []string{"ops_open"}, func() { must(b.AgentView(t.Context(), "brave-otter")) }},
		{"page of texts", "FROM `messages`", []string{"messages_page"}, func() {
			must(b.MessagePage(t.Context(), in.Agent.ID, cw.PageQuery{Limit: 1, Cursor: messages.Next}))
		}},
		{"page of questions", "FROM `questions`", []string{"questions_created_at"}, func() {
			must(b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1, Cursor: questions.Next}}))
		}},
		{"page of open questions", "FROM `questions`", []string{"questions_status"}, func() {
			must(b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1, Cursor: openQuestions.Next}, Statuses: open}))
		}},
		{"last questions", "source <> 'tool'", []string{"questions_agent"}, func() { must(b.LastQuestions(t.Context(), in.Agent.ID)) }},
		{"plan of an agent", "FROM `plans` WHERE agent_id", []string{"plans_agent"}, func() { _, _, err := b.PlanOf(t.Context(), in.Agent.ID); b.must(err) }},
		{"plans of agents", "FROM `plans` WHERE id", []string{"plans_agent"}, func() { must(b.AgentView(t.Context(), "brave-otter")) }},
		{"held worktrees", "held_until IS NOT NULL", []string{"agents_held"}, func() { must(b.HeldAgents(t.Context())) }},
		{"the trash", "w.trash <> ''", []string{"agent_worktrees_trash"}, func() { must(b.TrashedWorktrees(t.Context())) }},
	} {
		statement := b.statementOf(c.from, c.do)
		plan := b.planOf(statement)
		for _, index := range c.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s: the index %s is not used:\n%s\n%s", c.name, index, plan, statement)
			}
		}
		if whole := regexp.MustCompile(`(?m)^SCAN \w+$`).FindString(plan); whole != "" {
			t.Errorf("%s: %s:\n%s\n%s", c.name, whole, plan, statement)
		}
		if strings.HasPrefix(c.name, "page") && strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s is sorted after it is read:\n%s", c.name, plan)
		}
	}
}

// TestWritesUseIndexes: the conditions of the changes, which hold the lock.
func TestWritesUseIndexes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for condition, index := range map[string]string{
		"FROM messages WHERE agent_id = 'a' AND " + undelivered:                                     "messages_undelivered",
		"FROM messages WHERE run_id = 'r' AND " + undelivered:                                       "messages_run",
		"FROM messages WHERE agent_id = 'a' ORDER BY seq DESC LIMIT 1":                              "sqlite_autoindex_messages",
		"FROM ops WHERE run_id = 'r' AND " + openOp:                                                 "ops_run",
		"FROM ops WHERE agent_id = 'a' AND kind IN ('remove','restore') AND " + openOp:              "ops_agent",
		"FROM questions WHERE agent_id = 'a' AND status = 'open'":                                   "questions_agent",
		"FROM conversations WHERE to_agent_id = 'a' AND status = 'pending' ORDER BY created_at, id": "conversations_to",
		"FROM conversations WHERE from_agent_id = 'a' AND status = 'pending'":                       "conversations_from",
		"FROM conversations WHERE from_agent_id = 'a' AND request_key = 'k' AND request_key <> ''":  "conversations_request",
	} {
		if plan := b.planOf("SELECT * " + condition); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s is not answered from %s:\n%s", condition, index, plan)
		}
	}
}
