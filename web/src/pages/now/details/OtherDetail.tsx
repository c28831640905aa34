import type { DetailProps } from "../inbox/parts";
import { AgentStuckDetail } from "./AgentStuckDetail";
import { CheckpointDetail } from "./CheckpointDetail";
import { LandingDetail } from "./LandingDetail";
import { LimitDetail } from "./LimitDetail";
import { PlainDetail } from "./PlainDetail";
import { ProjectDetail } from "./ProjectDetail";
import { ProposalDetail } from "./ProposalDetail";
import { WorkDetail } from "./WorkDetail";

/** The detail of every kind but questions. A kind of a later daemon shows its text and its command. */
export function OtherDetail(props: DetailProps) {
  switch (props.item.kind) {
    case "checkpoint":
      return <CheckpointDetail {...props} />;
    case "proposal":
      return <ProposalDetail {...props} />;
    case "stalled":
    case "crashed":
      return <AgentStuckDetail {...props} />;
    case "limit":
      return <LimitDetail {...props} />;
    case "merge":
    case "blocked":
      return <WorkDetail {...props} />;
    case "project":
      return <ProjectDetail {...props} />;
    case "landing":
      return <LandingDetail {...props} />;
  }
  return <PlainDetail {...props} />;
}
