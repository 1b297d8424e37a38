import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ChoicesQuery } from './generated/documents.ts';
import { go, search, useUrl } from './location.tsx';
import { timeInAddress } from './time.ts';
import { onSubmit, type Option, Select, UserErrors, type Values } from './ui/form.tsx';
import { TimeInput } from './ui/time-input.tsx';
import { nameOf, numberOf } from './words.ts';

interface Props {
  readonly choices: ChoicesQuery;
  /** Choices with a value, by their name in the URL. They are applied at once. */
  readonly selects: Readonly<Record<string, readonly [label: string, options: readonly Option[]]>>;
  /** Whether a subscription has to be chosen. */
  readonly one?: boolean;
  /** Why the beginning of the range is required. Null if it is not. */
  readonly fromNote?: string | null;
  readonly onRange: (values: Values) => Readonly<Record<string, string | null>>;
  readonly children: ComponentChildren;
}

const errorOf = (name: string, message: string) => ({ message, field: ['input', name] });

/** A form that chooses deliveries. Its values are in the URL. */
export function RangeForm({ choices, selects, one = false, fromNote = null, onRange, children }: Props) {
  const { path, params } = useUrl();
  const [isBackward, setBackward] = useState(false);
  const here = path + search(params, {});
  /** Where the select with the focus has led: an arrow key is no decision yet. */
  const moved = useRef('');
  const urlWith = (changes: Record<string, string | null>) =>
    path + search(params, { after: null, confirmation: null, ...changes });
  const move = (changes: Record<string, string>) => {
    const url = urlWith(changes);
    go(url, moved.current === here);
    moved.current = url;
  };
  const subscriptions = choices.webhookSubscriptions.nodes.map((each): Option => [numberOf(each.id), nameOf(each)]);
  const all = {
    subscription: ['Subscription', one ? subscriptions : [['', 'All'], ...subscriptions]],
    type: ['Event type', [['', 'All'], ...choices.webhookEventTypes.map(({ type }): Option => [type, type])]],
    ...selects,
  } satisfies Props['selects'];
  const fields = Object.entries(all).map(([name, [label, options]]) => {
    const props = { name, label, options, value: params.get(name) ?? options[0]?.[0] ?? '' };
    return (
      <Select
        key={name}
        {...props}
        onChange={(event) => move({ [name]: event.currentTarget.value })}
        onBlur={() => (moved.current = '')}
      />
    );
  });
  const [since = null, until = null] = ['since', 'until'].map((name) => timeInAddress(params.get(name)));
  const errors = Object.entries({ since, until }).flatMap(([name, time]) =>
    time === null && params.get(name) ? errorOf(name, 'The address of this page has no valid time here.') : [],
  );
  const submit = (values: Values) => {
    const [fromMs, toMs] = [Date.parse(values['since'] ?? ''), Date.parse(values['until'] ?? '')];
    setBackward(fromMs >= toMs);
    if (fromMs >= toMs) return;
    const url = urlWith(onRange(values));
    go(url, url === here);
  };
  return (
    <form className="filters" onSubmit={onSubmit(submit)}>
      <UserErrors value={isBackward ? [errorOf('since', 'From must be before To.')] : errors}>
        {fields}
        <TimeInput
          key={`since ${since}`}
          name="since"
          label="From"
          value={since}
          required={fromNote !== null}
          note={fromNote}
        />
        <TimeInput key={`until ${until}`} name="until" label="To" value={until} near={since} />
        {children}
      </UserErrors>
    </form>
  );
}
