const gids = /gid:\/\/service\/([A-Za-z]+)\/(\d+)/g;
const keyIds = /(?<="(?:id|apiKeyId)":")[0-9A-Za-z]{12}(?=")/g;

/** The type of the records in each list that has cursors. */
const listTypes: Readonly<Record<string, string>> = {
  members: 'TeamMember',
  referrals: 'Referral',
  webhookDeliveries: 'WebhookDelivery',
  webhookReplays: 'WebhookReplay',
  webhookSubscriptions: 'WebhookSubscription',
};

/**
 * Replaces ids, which are different on every run, with small numbers that are the same: the ids of each type, and the key ids, are
 * numbered from 1 in the order of their first appearance.
 */
export interface ExampleIds {
  /** Numbers the ids in a text that have no number yet, and replaces all. */
  toExample(text: string): string;
  /** Replaces the id in a cursor. */
  toExampleCursor(cursor: string): string;
  /** The reverse of `toExample`. Leaves ids that `toExample` has not returned. */
  toReal(text: string): string;
}

export function createExampleIds(): ExampleIds {
  const examples = new Map<string, string>();
  const real = new Map<string, string>();
  const counts = new Map<string, number>();

  function toExampleId(id: string, typeName: string, format: (count: number) => string): string {
    const known = examples.get(id);
    if (known !== undefined) return known;
    const count = (counts.get(typeName) ?? 0) + 1;
    const example = format(count);
    counts.set(typeName, count);
    examples.set(id, example);
    real.set(example, id);
    return example;
  }

  const toExampleGid = (gid: string, typeName: string): string =>
    toExampleId(gid, typeName, (count) => `gid://service/${typeName}/${count}`);

  const toExampleKeyId = (keyId: string): string =>
    toExampleId(keyId, 'ApiKey', (count) => `ExampleKey${String(count).padStart(2, '0')}`);

  const numberOf = (typeName: string, id: string): string | undefined =>
    toExampleGid(`gid://service/${typeName}/${id}`, typeName).split('/').at(-1);

  function toExampleOfEvent(position: string): string {
    const [subscription = '', sequence = '', delivery = ''] = position.split('.');
    const numbers = [numberOf('WebhookSubscription', subscription), sequence, numberOf('WebhookDelivery', delivery)];
    return Buffer.from(`webhookEvents:${numbers.join('.')}`).toString('base64url');
  }

  const toRealId = (id: string): string => real.get(id) ?? id;

  return {
    toExample: (text) => text.replaceAll(gids, toExampleGid).replaceAll(keyIds, toExampleKeyId),
    toExampleCursor(cursor) {
      const [list = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(':');
      if (list === 'webhookEvents') return toExampleOfEvent(id);
      const typeName = listTypes[list];
      if (typeName === undefined) throw new Error(`The cursor ${cursor} is of an unknown list.`);
      const example = toExampleGid(`gid://service/${typeName}/${id}`, typeName);
      return Buffer.from(`${list}:${example.split('/').at(-1)}`).toString('base64url');
    },
    toReal: (text) => text.replaceAll(gids, toRealId).replaceAll(keyIds, toRealId),
  };
}
