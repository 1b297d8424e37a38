import type { ReactNode } from 'react';
import type { ChoicesQuery } from './generated/documents.ts';
import { go, search, useUrl } from './location.tsx';
import { fromLocalInput, toLocalInput } from './time.ts';
import { Input, onSubmit, type Option, Select, type Values } from './ui/form.tsx';
import { nameOf, numberOf } from './words.ts';

interface Props {
  readonly choices: ChoicesQuery;
  /** Choices with a value, by their name in the URL. They are applied at once. */
  readonly selects: Readonly<Record<string, readonly [label: string, options: readonly Option[]]>>;
  /** Whether a subscription has to be chosen. */
  readonly one?: boolean;
  readonly onRange: (values: Values) => Readonly<Record<string, string | null>>;
  readonly children: ReactNode;
}

/** A form that chooses deliveries. Its values are in the URL. */
export function RangeForm({ choices, selects, one = false, onRange, children }: Props) {
  const { path, params } = useUrl();
  const change = (changes: Record<string, string | null>) =>
    go(path + search(params, { after: null, confirmation: null, ...changes }));
  const subscriptions = choices.webhookSubscriptions.nodes.map((each): Option => [numberOf(each.id), nameOf(each)]);
  const all = {
    subscription: ['Subscription', one ? subscriptions : [['', 'All'], ...subscriptions]],
    type: ['Event type', [['', 'All'], ...choices.webhookEventTypes.map(({ type }): Option => [type, type])]],
    ...selects,
  } satisfies Props['selects'];
  const fields = Object.entries(all).map(([name, [label, options]]) => {
    const props = { name, label, options, value: params.get(name) ?? options[0]?.[0] ?? '' };
    return <Select key={name} {...props} onChange={(event) => change({ [name]: event.currentTarget.value })} />;
  });
  const times = (['since', 'until'] as const).map((name) => {
    const value = toLocalInput(params.get(name));
    return (
      <Input
        key={name + value}
        name={name}
        label={name === 'since' ? 'Since' : 'Before'}
        type="datetime-local"
        defaultValue={value}
      />
    );
  });
  const submit = ({ since, until, ...others }: Values) =>
    change(onRange({ ...others, since: fromLocalInput(since) ?? '', until: fromLocalInput(until) ?? '' }));
  return (
    <form className="filters" onSubmit={onSubmit(submit)}>
      {fields}
      {times}
      {children}
    </form>
  );
}
