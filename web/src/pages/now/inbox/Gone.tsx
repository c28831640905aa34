import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Who, type DetailProps } from "./parts";

/** What was dealt with elsewhere, or went on by itself, while it was open here. */
export function Gone({ item, onNext }: DetailProps) {
  return (
    <>
      <Who item={item} />
      <Title>{item.text}</Title>
      <p className="text-ink-2">This waits no more. Somebody dealt with it elsewhere, or it went on by itself.</p>
      <Acts note="Nothing was sent from here">{onNext && <Button keys="n" onClick={onNext}>Next</Button>}</Acts>
    </>
  );
}
