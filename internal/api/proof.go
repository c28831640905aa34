package api

import (
	"context"

	"cw/internal/cw"
)

type proofParams struct {
	ID    string `path:"id" doc:"id of the session; what is none is answered in the same form"`
	Nonce string `query:"nonce" required:"true" doc:"16 to 64 random letters, digits, - and _, new for each request"`
}

// proof is the whole answer about a session.
type proof struct {
	Proof string `json:"proof" doc:"hex HMAC-SHA256, with the hex SHA-256 of the session's token as the key, over five lines: 'cw session proof 1', 'lives' or 'over', the Host that was asked, the session's id, the nonce"`
}

func registerProof(s *Server) {
	handle(s, "prove-session", func(ctx context.Context, in *proofParams) (proof, error) {
		r := cw.ProofRequest{Session: cw.TokenID(in.ID), Nonce: in.Nonce, Host: callerOf(ctx).host}
		if err := r.Check(); err != nil {
			return proof{}, err
		}
		text, err := s.opts.Prove(ctx, r)
		return proof{text}, err
	})
}
