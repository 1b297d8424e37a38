const gids = /gid:\/\/service\/([A-Za-z]+)\/(\d+)/g;

/** The type of the records in each list that has cursors. */
const listTypes: Readonly<Record<string, string>> = {
  members: 'TeamMember',
  referrals: 'Referral',
  webhookDeliveries: 'WebhookDelivery',
  webhookReplays: 'WebhookReplay',
  webhookSubscriptions: 'WebhookSubscription',
};

/**
 * Replaces ids, which are different on every run, with small numbers that are the same: the ids of each type are numbered from
 * 1 in the order of their first appearance.
 */
export interface ExampleIds {
  /** Numbers the global identifiers in a text that have no number yet, and replaces all. */
  toExample(text: string): string;
  /** Replaces the id in a cursor. */
  toExampleCursor(cursor: string): string;
  /** The reverse of `toExample`. Leaves global identifiers that `toExample` has not returned. */
  toReal(text: string): string;
}

export function createExampleIds(): ExampleIds {
  const examples = new Map<string, string>();
  const real = new Map<string, string>();
  const counts = new Map<string, number>();

  const toExampleGid = (gid: string, typeName: string): string => {
    const known = examples.get(gid);
    if (known !== undefined) return known;
    const count = (counts.get(typeName) ?? 0) + 1;
    const example = `gid://service/${typeName}/${count}`;
    counts.set(typeName, count);
    examples.set(gid, example);
    real.set(example, gid);
    return example;
  };

  const numberOf = (typeName: string, id: string): string | undefined =>
    toExampleGid(`gid://service/${typeName}/${id}`, typeName).split('/').at(-1);

  function toExampleOfEvent(position: string): string {
    const [subscription = '', sequence = '', delivery = ''] = position.split('.');
    const numbers = [numberOf('WebhookSubscription', subscription), sequence, numberOf('WebhookDelivery', delivery)];
    return Buffer.from(`webhookEvents:${numbers.join('.')}`).toString('base64url');
  }

  return {
    toExample: (text) => text.replaceAll(gids, toExampleGid),
    toExampleCursor(cursor) {
      const [list = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(':');
      if (list === 'webhookEvents') return toExampleOfEvent(id);
      const typeName = listTypes[list];
      if (typeName === undefined) throw new Error(`The cursor ${cursor} is of an unknown list.`);
      const example = toExampleGid(`gid://service/${typeName}/${id}`, typeName);
      return Buffer.from(`${list}:${example.split('/').at(-1)}`).toString('base64url');
    },
    toReal: (text) => text.replaceAll(gids, (gid) => real.get(gid) ?? gid),
  };
}
