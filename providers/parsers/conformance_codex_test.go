package parsers

import "cw/internal/cw"

// codexFacts are of runs of codex 0.169.0 against a scripted model server. It
// tells no cost; its tokens are of the whole thread, and none of them came from
// the cache. Its times of day are UTC.
func codexFacts() []testimony {
	none := cw.Usage{}
	return []testimony{
		{"codex/C", "01a1fc56-f144-7072-be05-2ec2b3f82d4a", good, tokens(13856, 42), 0, "", ""},                                       // -C
		{"codex/auth-apikey", "01a1fc60-f50f-7de2-a8ea-37912781016e", good, tokens(17002, 24), 0, "", ""},                             // auth.json with a key
		{"codex/auth-chatgpt", "01a1fc60-f4e3-70f1-88d4-86b89e31c00b", unreachable, none, 0, "", ""},                                  // cut stream
		{"codex/auth-chatgpt426", "01a1fc61-e945-70a0-9b34-3d82d4692792", limited, none, 0, "usage_limit", "2026-11-21T05:33:00Z"},    // usage_limit_reached
		{"codex/auth-envkey", "01a1fc60-f39f-77a1-ad46-5adab1796d43", good, tokens(17005, 24), 0, "", ""},                             // CODEX_API_KEY
		{"codex/auth-envkey426", "01a1fc61-e93f-76f3-85d6-ba2214428925", good, tokens(16990, 42), 0, "", ""},                          // CODEX_API_KEY, no WebSocket
		{"codex/auth-error", "01a1fc50-abdd-74d0-b07c-ffe0e2108b8b", refused, none, 0, "", ""},                                        // 401, 5 retries
		{"codex/auth-expired", "01a1fc61-ecb9-7242-a9e9-6323cb2c3002", unreachable, none, 0, "", ""},                                  // expired JWT; cut stream
		{"codex/auth401", "01a1fc50-abdd-74d0-b07c-ffe0e2108b8b", refused, none, 0, "", ""},                                           // 401, 5 retries
		{"codex/ctx", "01a1fc50-d5de-7490-b89d-c80d11ee2a5c", failed, none, 0, "", ""},                                                // context_length_exceeded
		{"codex/cut", "01a1fc50-fa22-76c3-9934-d73b7b453db5", unreachable, none, 0, "", ""},                                           // cut stream
		{"codex/interrupted-sigterm", "01a1fc53-30d4-7990-afdd-0cd7657841fd", open, none, 0, "", ""},                                  // SIGTERM
		{"codex/noauth", "01a1fc56-f166-7880-8b29-d6cf3ec9b194", open, none, 0, "", ""},                                               // no login: it waits for the network for ever
		{"codex/noenvkey", "01a1fc56-f1d3-75e3-9a73-7a3abeabae2e", refused, none, 0, "", ""},                                          // env missing
		{"codex/nogit-skip", "01a1fc56-d49f-7c21-8028-268d7a255cd2", good, tokens(13830, 42), 0, "", ""},                              // --skip-git-repo-check
		{"codex/nogit", "01a1fc56-b959-7fc3-9ecf-969eaed689ac", good, tokens(13820, 42), 0, "", ""},                                   // not in a repository
		{"codex/overload", "01a1fc50-d655-74f3-b941-7d1839d73cb0", unreachable, none, 0, "", ""},                                      // 503 server_is_overloaded
		{"codex/overload_stream", "01a1fc50-d602-7830-acd7-c48b49987241", unreachable, none, 0, "", ""},                               // server_is_overloaded in the stream
		{"codex/overload_x2", "01a1fc50-d610-7f80-9f96-c5c6e62f4e62", good, tokens(13864, 28), 0, "", ""},                             // 503 twice then ok
		{"codex/patch", "01a1ffb6-dd68-7c52-b45a-f20086f68dbe", good, tokens(106370, 122), 0, "", ""},                                 // files added, changed, deleted
		{"codex/questions", "01a1fc50-fc20-7d31-8293-277e015feaf0", good, tokens(27971, 58), 0, "", ""},                               // 27971 tokens
		{"codex/quota", "01a1fc50-b04b-7c32-b0d7-4850d4268f81", limited, none, 0, "quota", ""},                                        // insufficient_quota
		{"codex/quota_stream", "01a1fc50-fa71-72f2-bccc-8a5479f42283", limited, none, 0, "quota", ""},                                 // insufficient_quota in the stream
		{"codex/ratelimit", "01a1fc50-af4d-75b2-98c1-be11b04933d4", unreachable, none, 0, "", ""},                                     // 429 rate_limit_exceeded, 5 retries: a rate per minute
		{"codex/resume-after-sigterm", "01a1fc53-30d4-7990-afdd-0cd7657841fd", good, tokens(28315, 55), 0, "", ""},                    // after SIGTERM
		{"codex/resume-after-usage", "01a1fc50-af51-7430-a796-f349faddc987", good, tokens(42291, 77), 0, "", ""},                      // after usage limit
		{"codex/resume-copied", "01a1fc50-fc20-7d31-8293-277e015feaf0", good, tokens(164798, 318), 0, "", ""},                         // rollout copied
		{"codex/resume-elsewhere", "01a1fc50-fc20-7d31-8293-277e015feaf0", good, tokens(148089, 276), 0, "", ""},                      // any cwd
		{"codex/resume-otherwt", "01a1fc50-fc20-7d31-8293-277e015feaf0", good, tokens(132213, 234), 0, "", ""},                        // any cwd
		{"codex/resume", "01a1fc50-fc20-7d31-8293-277e015feaf0", good, tokens(56609, 113), 0, "", ""},                                 // 27971 tokens became 56609
		{"codex/rl_stream", "01a1fc50-fa87-7eb3-84ad-12d34a3a2b86", good, tokens(13863, 31), 0, "", ""},                               // rate_limit_exceeded in the stream, one Reconnecting line
		{"codex/sandbox-ro", "01a1fc56-d4e5-7600-bae9-ada7608b162d", good, tokens(42228, 74), 0, "", ""},                              // sandbox
		{"codex/sandbox-ww", "01a1fc56-d4a8-7692-965c-bde3d9b77119", good, tokens(72588, 121), 0, "", ""},                             // sandbox
		{"codex/schema", "01a1fc56-f261-7240-b85a-dbc161313e86", good, tokens(13905, 42), 0, "", ""},                                  // --output-schema
		{"codex/sighup", "01a1fc53-987f-7491-a103-df2641957b61", open, none, 0, "", ""},                                               // SIGHUP
		{"codex/sigint-stream", "01a1fc63-1189-7922-8859-afa010c64a9b", open, none, 0, "", ""},                                        // SIGINT
		{"codex/sigint", "01a1fc53-5322-7f20-a826-c97968782b5e", open, none, 0, "", ""},                                               // SIGINT
		{"codex/sigterm-stream", "01a1fc53-7712-78b0-98ff-22ea5883a63a", open, none, 0, "", ""},                                       // SIGTERM
		{"codex/sigterm", "01a1fc53-30d4-7990-afdd-0cd7657841fd", open, none, 0, "", ""},                                              // SIGTERM
		{"codex/stdin-dash", "01a1fc56-b964-7352-ad80-38b46a610ab9", good, tokens(13860, 42), 0, "", ""},                              // prompt from stdin, as -
		{"codex/stdin", "01a1fc56-b959-7652-8efb-7a3b2dfc1a46", good, tokens(13859, 42), 0, "", ""},                                   // prompt from stdin
		{"codex/success", "01a1fc4d-2d1e-7d92-8d0e-f855d752fc8e", good, tokens(71664, 121), 0, "", ""},                                // a commit
		{"codex/success_fast", "01a1fc64-ab7a-7eb1-b0ae-985b38664c27", good, tokens(71697, 121), 0, "", ""},                           // analytics off
		{"codex/text", "01a1fc50-d64a-7920-88f3-bbab16052fdb", good, tokens(13858, 27), 0, "", ""},                                    // no tool
		{"codex/usage-limit-midway", "01a1fc50-af51-7430-a796-f349faddc987", limited, none, 0, "usage_limit", "2026-11-21T05:15:00Z"}, // usage_limit_reached, after work was done
		{"codex/usage-limit", "01a1fc50-b108-7b23-9761-61068029ed4a", limited, none, 0, "usage_limit", "2026-11-21T05:15:00Z"},        // usage_limit_reached
		{"codex/usage", "01a1fc50-b108-7b23-9761-61068029ed4a", limited, none, 0, "usage_limit", "2026-11-21T05:15:00Z"},              // usage_limit_reached
		{"codex/usage_mid", "01a1fc50-af51-7430-a796-f349faddc987", limited, none, 0, "usage_limit", "2026-11-21T05:15:00Z"},          // usage_limit_reached, after work was done
		{"codex/x30t10", "01a1fc4e-6013-7282-b439-3c2dd3b3031f", good, tokens(27976, 52), 0, "", ""},                                  // MCP
		{"codex/x400", "01a1fc4e-5ec1-7501-a68a-6b43b0b7783c", good, tokens(27914, 52), 0, "", ""},                                    // MCP
		{"codex/x400t", "01a1fc4e-6403-7410-b6d8-a39213d736cc", good, tokens(27916, 52), 0, "", ""},                                   // MCP
		{"codex/x55b", "01a1fc65-2e7a-7fc2-a4fb-22a93aef66a5", good, tokens(20189, 51), 0, "", ""},                                    // MCP
		{"codex/x55direct", "01a1fc61-ebd2-7ae1-901e-b9e67f3794d9", good, tokens(20198, 51), 0, "", ""},                               // MCP
		{"codex/xappr", "01a1fc65-e914-7d30-9de5-eee9e560e88c", good, tokens(28325, 53), 0, "", ""},                                   // MCP
		{"codex/xbadmcp", "01a1fc65-ee85-7572-a556-11db9f98789b", good, tokens(14048, 42), 0, "", ""},                                 // MCP
		{"codex/xenv", "01a1fc66-78ae-7612-b10c-ec9f3443c4c4", good, tokens(28035, 41), 0, "", ""},                                    // environment
		{"codex/xgit3", "01a1fc67-61bd-75b1-942a-47c01d75a9fc", good, tokens(75519, 121), 0, "", ""},                                  // sandbox
		{"codex/xperm", "01a1fc65-2eb3-72a1-bfb3-5a697177ec49", good, tokens(27955, 53), 0, "", ""},                                   // MCP
		{"codex/xpermww", "01a1fc65-460d-7ee2-9960-5f19bb0c2b8a", good, tokens(28347, 53), 0, "", ""},                                 // MCP
		{"codex/xpragma130d", "01a1fc51-b417-76c1-9f4d-0b813a351749", good, tokens(27966, 53), 0, "", ""},                             // MCP
		{"codex/xpragma400d", "01a1fc61-eb71-7ac0-bbcc-39952b2d1c6f", good, tokens(27991, 53), 0, "", ""},                             // MCP
		{"codex/xpragma90", "01a1fc51-b4a2-7d22-bfbe-1c78c92b57db", good, tokens(27962, 53), 0, "", ""},                               // MCP
		{"codex/xro", "01a1fc65-e384-7c01-9815-2f61ef70bc0a", good, tokens(28315, 53), 0, "", ""},                                     // MCP
		{"codex/xwait90", "01a1fc51-b5f5-7082-a5e2-0787a32621da", good, tokens(42105, 74), 0, "", ""},                                 // MCP
		{"codex/xww2", "01a1fc66-8257-7270-b027-7c88d98443fa", good, tokens(72589, 121), 0, "", ""},                                   // MCP
		{"codex/xwwgit", "01a1fc66-7ec8-7381-ac8c-dcd13230df3c", good, tokens(73296, 121), 0, "", ""},                                 // sandbox
	}
}
