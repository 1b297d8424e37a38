import type { Ref } from 'preact';
import { useId, useState } from 'preact/hooks';
import { formatUtc, fromLocalInput, toLocalInput, zoneOf } from '../time.ts';
import { Field } from './form.tsx';

interface Props {
  readonly label: string;
  /** Of the time in UTC, for the form. Empty if there is none. */
  readonly name?: string;
  readonly ref?: Ref<HTMLInputElement>;
  /** Kept to the millisecond unless it is changed. */
  readonly value?: string | null;
  /** Decides which of two times is meant in the hour that repeats when clocks go back, if there is no value. */
  readonly near?: string | null;
  /** What an empty input means. */
  readonly note?: string | null;
  readonly required?: boolean;
}

/** A local time with the name of its zone, and UTC below it. */
export function TimeInput({ label, name, ref, value = null, near = null, note = null, required = false }: Props) {
  const id = useId();
  const [openedAt] = useState(() => new Date().toISOString());
  const [text, setText] = useState(toLocalInput(value));
  const at = fromLocalInput(text, value ?? near ?? openedAt);
  return (
    <div className="field">
      <Field
        name={name}
        label={`${label} (${zoneOf(at ?? near ?? openedAt)})`}
        control={
          <input
            name={name}
            type="datetime-local"
            autocomplete="off"
            step={1}
            max="9999-12-31T23:59:59"
            required={required}
            aria-describedby={id}
            defaultValue={toLocalInput(value)}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        }
      />
      {/* After the input of the same name, so the form has this value. */}
      <input type="hidden" name={name} ref={ref ?? null} value={at ?? ''} />
      <small id={id}>{at === null ? note : formatUtc(Date.parse(at))}</small>
    </div>
  );
}
