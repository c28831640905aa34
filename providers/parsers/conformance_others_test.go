package parsers

import "cw/internal/cw"

// otherFacts are of runs of qwen 0.24.4, cn 1.5.47 and pi 0.73.1 against a
// scripted model server, and of amp 0.0.1790142911 without a login.
//
// qwen's totals count requests that it makes for itself. The server's prices in
// pi were 1, 2 and 0.1 dollars for a million tokens read, written, and read
// from the cache; each of its answers took 1000, 34 and 200 of them.
func otherFacts() []testimony {
	none := cw.Usage{}
	once := cw.Usage{InputTokens: 1000, OutputTokens: 34, CacheReadTokens: 200}
	twice := once.Add(once)
	return []testimony{
		{"others/qwen/401", "2a42fd68-5376-4933-a423-a6a0a820d8be", refused, none, 0, "", ""},                // 401
		{"others/qwen/429", "2532f739-28da-40fd-be65-a36f78aff151", open, none, 0, "", ""},                   // 429, killed while it tried again
		{"others/qwen/ask", "cda4b7d8-4d81-4ca3-9f54-f257edbcdc7b", good, tokens(2400, 68), 0, "", ""},       // no question is asked headless
		{"others/qwen/grpterm", "953256cf-2836-4284-b33e-0c1967f29307", open, none, 0, "", ""},               // SIGTERM to the group, streaming
		{"others/qwen/maxtool", "99e9ad8d-7157-4335-8715-b43ead614239", good, tokens(2400, 68), 0, "", ""},   // no tool
		{"others/qwen/mcp", "3b39bbc5-f453-4791-b821-1cc613a4f256", good, tokens(2400, 68), 0, "", ""},       // an MCP server
		{"others/qwen/noauth", "", refused, none, 0, "", ""},                                                 // no --auth-type: the result is the only line
		{"others/qwen/noauto", "1d3ca9da-9ab6-450d-a5ab-6d8d3a1c172e", good, tokens(6000, 170), 0, "", ""},   // without --yolo
		{"others/qwen/quota", "cb141212-c283-46b7-aabf-34fc2fe1377e", open, none, 0, "", ""},                 // insufficient_quota, killed before the first word of it
		{"others/qwen/quota-long", "d1be92fd-5410-4f38-a666-a19d531d93df", open, none, 0, "", ""},            // the same, killed after 270 s
		{"others/qwen/qwenhome", "07da525c-7ed5-43ac-8d1f-ca6b58c5e970", good, tokens(2400, 68), 0, "", ""},  // QWEN_HOME
		{"others/qwen/resume", "0c409708-00e6-4e0a-944f-ab55d923a8c8", good, tokens(4800, 136), 0, "", ""},   // --resume of others/qwen/tool
		{"others/qwen/sessionid", "11111111-2222-4333-8444-555555555555", good, tokens(2400, 68), 0, "", ""}, // --session-id
		{"others/qwen/stdin", "4b53dcac-9a26-411e-949b-716d5e84cd1f", good, tokens(2400, 68), 0, "", ""},     // prompt from stdin
		{"others/qwen/time", "10a9bde0-3836-4a9d-aa4b-3ec3979a6517", good, tokens(2400, 68), 0, "", ""},      // a tool and a text
		{"others/qwen/time-bare", "cc9e657b-247f-4b39-ad86-cab5f0293d3a", good, tokens(2400, 68), 0, "", ""}, // a tool and a text
		{"others/qwen/tool", "0c409708-00e6-4e0a-944f-ab55d923a8c8", good, tokens(2400, 68), 0, "", ""},      // a tool and a text
		{"others/cn/fork", "", good, none, 0, "", ""},                                                        // --format json
		{"others/cn/gdir", "", open, none, 0, "", ""},                                                        // plain text tells no end
		{"others/cn/mcp", "", good, none, 0, "", ""},                                                         // --format json
		{"others/cn/noauto", "", good, none, 0, "", ""},                                                      // --format json
		{"others/cn/resume", "", good, none, 0, "", ""},                                                      // --format json
		{"others/cn/sid", "", open, none, 0, "", ""},                                                         // plain text
		{"others/cn/sid2", "", open, none, 0, "", ""},                                                        // plain text
		{"others/cn/time", "", good, none, 0, "", ""},                                                        // --format json
		{"others/cn/tool", "", good, none, 0, "", ""},                                                        // --format json
		{"others/cn/tool2", "", open, none, 0, "", ""},                                                       // plain text
		{"others/cn/verbose", "", open, none, 0, "", ""},                                                     // plain text
		{"others/pi/401", "01a200f6-d008-77b8-9fee-2472010e11ce", refused, none, 0, "", ""},                  // 401, not tried again
		{"others/pi/429", "01a200f6-cbdd-700f-ac7c-ded5f58f9f77", unreachable, none, 0, "", ""},              // rate_limit_exceeded, a rate per minute, 3 retries
		{"others/pi/500", "01a200f6-cf65-7723-a4da-a264b96f96f3", unreachable, none, 0, "", ""},              // 500, 3 retries
		{"others/pi/cut", "01a200f6-cfdf-7363-a0b0-c579d91389c8", good, none, 0, "", ""},                     // cut in mid stream: pi takes it for an end
		{"others/pi/quota", "01a200f6-d138-730f-a077-434106103f38", limited, none, 0, "quota", ""},           // insufficient_quota, 3 retries
		{"others/pi/resume", "01a200f6-ce8e-7756-b913-959fffcadfc0", good, once, 0.001088, "", ""},           // --session: counts are of the run
		{"others/pi/sigterm", "01a20100-5490-7793-b546-670841351ca3", open, none, 0, "", ""},                 // SIGTERM, streaming: exit code 143
		{"others/pi/tool", "01a200f6-ce8e-7756-b913-959fffcadfc0", good, twice, 2 * 0.001088, "", ""},        // a tool and a text
		{"others/pi/write", "01a200f6-cf5d-73d8-bc6d-5df1110b3681", good, twice, 2 * 0.001088, "", ""},       // two tools at once, one fails
		{"others/amp/noauth", "", open, none, 0, "", ""},                                                     // it asks for a login on stdout and waits
	}
}
