package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"
)

// opened is what is read of the answer to a new or a loaded session.
type opened struct {
	SessionID sdk.SessionId `json:"sessionId"`
	Models    struct {
		Current string `json:"currentModelId"`
	} `json:"models"`
	Options []struct {
		ID    string `json:"id"`
		Value any    `json:"currentValue"`
	} `json:"configOptions"`
}

// modelOption is the option that agents call the model (opencode, copilot).
const modelOption = "model"

// model is the session's model, where the agent tells it: as a list of models
// or, newer, as one option among others.
func (o opened) model() string {
	for _, option := range o.Options {
		if value, ok := option.Value.(string); ok && option.ID == modelOption && o.Models.Current == "" {
			return value
		}
	}
	return o.Models.Current
}

// open leads up to a session that can be prompted. method is what an error is
// about.
func (d *driver) open(ctx context.Context, servers []sdk.McpServer) (method string, err error) {
	var agent struct {
		Info json.RawMessage `json:"agentInfo"`
		Can  struct {
			LoadSession bool `json:"loadSession"`
		} `json:"agentCapabilities"`
	}
	err = d.call(ctx, sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "cw", Version: d.cfg.Version},
	}, &agent)
	if err != nil {
		return sdk.AgentMethodInitialize, err
	}
	session := opened{SessionID: sdk.SessionId(d.cfg.Resume)}
	if d.cfg.Resume == "" {
		method = sdk.AgentMethodSessionNew
		err = d.call(ctx, method, sdk.NewSessionRequest{Cwd: d.cfg.Cwd, McpServers: servers}, &session)
	} else {
		method = sdk.AgentMethodSessionLoad
		if !agent.Can.LoadSession {
			return method, errors.New("the agent cannot go on with a session")
		}
		err = d.call(ctx, method, sdk.LoadSessionRequest{SessionId: session.SessionID, Cwd: d.cfg.Cwd, McpServers: servers}, &session)
	}
	if err == nil && session.SessionID == "" {
		err = errors.New("the agent gave the session no id")
	}
	if err != nil {
		return method, err
	}
	d.session = session.SessionID
	begun := line{Type: lineInit, SessionID: d.session, Agent: agent.Info, Model: session.model(), Resumed: d.cfg.Resume != ""}
	if d.cfg.Model != "" {
		begun.Model = d.cfg.Model
	}
	d.out.write(begun)
	if method, err = d.setModel(ctx, session); err != nil {
		return method, err
	}
	return sdk.AgentMethodSessionSetMode, d.setMode(ctx)
}

// setModel asks for the model, in the way in which the agent tells its own. An
// agent that refuses it ends the turn: another model is another price.
func (d *driver) setModel(ctx context.Context, session opened) (method string, err error) {
	switch {
	case d.cfg.Model == "" || d.cfg.Model == session.model():
		return "", nil
	case session.Models.Current != "":
		method = sdk.AgentMethodSessionSetModel
		return method, d.call(ctx, method, sdk.UnstableSetSessionModelRequest{
			SessionId: d.session, ModelId: sdk.UnstableModelId(d.cfg.Model),
		}, nil)
	}
	method = sdk.AgentMethodSessionSetConfigOption
	return method, d.call(ctx, method, sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
		SessionId: d.session, ConfigId: modelOption, Value: sdk.SessionConfigValueId(d.cfg.Model),
	}}, nil)
}

// setMode asks for the mode. An agent that has no such mode goes on in its own:
// its requests for permission are granted anyway.
func (d *driver) setMode(ctx context.Context) error {
	if d.cfg.Mode == "" {
		return nil
	}
	err := d.call(ctx, sdk.AgentMethodSessionSetMode, sdk.SetSessionModeRequest{SessionId: d.session, ModeId: sdk.SessionModeId(d.cfg.Mode)}, nil)
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok {
		d.out.write(line{Type: lineWarning, Message: fmt.Sprintf("the agent refused the mode %s: %s", d.cfg.Mode, refused.Message)})
		return nil
	}
	return err
}

// call sends a request and reads the answer into the value, as far as it can be
// read: a field of another type than it should be is passed over.
func (d *driver) call(ctx context.Context, method string, params, into any) error {
	wait := d.cfg.Waits.Answer
	limited, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("the agent gave no answer within %s", wait))
	defer cancel()
	answer, err := d.conn.ask(method, params).wait(limited)
	if err != nil || into == nil {
		return err
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(answer, into); err != nil && !errors.As(err, &wrong) {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	return nil
}
