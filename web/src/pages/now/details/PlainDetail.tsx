import { Title } from "../../../ui/Acts";
import { Command } from "../../../ui/Command";
import { Who, type DetailProps } from "../inbox/parts";

/** What is known of every item: its text, and the command that deals with it. */
export function PlainDetail({ item }: DetailProps) {
  return (
    <>
      <Who item={item} />
      <Title>{item.text}</Title>
      {item.hint !== "" && <Command text={item.hint} />}
    </>
  );
}
