package cw

import (
	"context"
	"slices"
)

// The tools of the MCP server, as agents call them.
const (
	ToolAskUser       = "ask_user_question"
	ToolPlanCreate    = "plan_create"
	ToolPlanUpdate    = "plan_update"
	ToolAgentsList    = "agents_list"
	ToolAgentsMessage = "agents_message"
	ToolAskAgent      = "ask_agent"
	ToolListen        = "listen"
	ToolAnswer        = "answer"
	ToolNewID         = "new_id"
	ToolTaskContext   = "task_context"
	ToolSignalDone    = "signal_done"
	ToolSignalAsk     = "signal_questions"
	ToolSignalError   = "signal_error"
)

// ToolRight is one row of the table of tools: what a token needs for it.
type ToolRight struct {
	Tool  string
	Scope Scope
}

// ToolRights is the table of tools and rights. A tool without a row does not
// exist.
func ToolRights() []ToolRight {
	return []ToolRight{
		{ToolAskUser, ScopeQuestion},
		{ToolPlanCreate, ScopePlan},
		{ToolPlanUpdate, ScopePlan},
		{ToolAgentsList, ScopePeers},
		{ToolAgentsMessage, ScopeMessage},
		{ToolAskAgent, ScopeMessage},
		{ToolListen, ScopeMessage},
		{ToolAnswer, ScopeMessage},
		{ToolNewID, ScopeReadSelf},
		{ToolTaskContext, ScopeReadSelf},
		{ToolSignalDone, ScopeSignal},
		{ToolSignalAsk, ScopeSignal},
		{ToolSignalError, ScopeSignal},
	}
}

// MayUse gives the tools that a token's rights allow, in the order of the table:
// those of its scopes, of these only the allowed ones where some are named, and
// none of the denied ones.
func MayUse(scopes []Scope, allow, deny []string) []string {
	var tools []string
	for _, r := range ToolRights() {
		allowed := len(allow) == 0 || slices.Contains(allow, r.Tool)
		if slices.Contains(scopes, r.Scope) && allowed && !slices.Contains(deny, r.Tool) {
			tools = append(tools, r.Tool)
		}
	}
	return tools
}

// Rights is what a token grants: its scopes, and of the tools that these reach
// only the allowed ones where some are named, and none of the denied ones.
type Rights struct {
	Scopes     []Scope
	ToolsAllow []string
	ToolsDeny  []string
}

// Rights gives what the token grants; one that was ended grants nothing.
func (t Token) Rights() Rights {
	if t.RevokedAt != nil {
		return Rights{}
	}
	return Rights{Scopes: t.Scopes, ToolsAllow: t.ToolsAllow, ToolsDeny: t.ToolsDeny}
}

// MaySpawn tells whether the token lets its agent make agents.
func (t Token) MaySpawn() bool { return slices.Contains(t.Rights().Scopes, ScopeSpawn) }

// Tools gives the tools that the rights allow, in the order of the table.
func (r Rights) Tools() []string { return MayUse(r.Scopes, r.ToolsAllow, r.ToolsDeny) }

// Toolbox is what an agent's tool server must know of its run.
type Toolbox struct {
	AgentID   AgentID `json:"agentId" doc:"the calling agent"`
	AgentName string  `json:"agentName" doc:"its name"`
	AgentCwd  string  `json:"agentCwd" doc:"its working directory"`
	Mode      Mode    `json:"mode" doc:"what it is for"`
	Provider  string  `json:"provider" doc:"whose CLI it runs"`
	// AsksWait tells whether a call may wait for people: some CLIs give a call up
	// after seconds or minutes, and then the questions go by the signal.
	AsksWait bool `json:"asksWait" doc:"a call may wait for people for hours; else questions go by the signal"`
	// CallMax is how many seconds a call may take before the CLI gives it up; 0: as
	// long as it likes.
	CallMax  int      `json:"callMaxSeconds" doc:"seconds after which the CLI gives a call up; 0: never"`
	MaySpawn bool     `json:"maySpawn" doc:"it may make agents"`
	Tools    []string `json:"tools" doc:"the tools that it may be offered"`
}

// ToolService is what the tool server of a run asks.
type ToolService interface {
	// Toolbox tells which tools the calling agent may be offered. CodeForbidden for
	// callers that are no agent.
	Toolbox(ctx context.Context) (Toolbox, error)
}
