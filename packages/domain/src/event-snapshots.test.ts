import { expect, test } from 'vitest';
import { recordTypeOf, snapshotSchema } from './event-snapshots.ts';
import { sampleSnapshots } from './sample-snapshots.ts';

const samples = new Map<string, object>(Object.entries(sampleSnapshots('service')));

test.each(Object.keys(recordTypeOf))('the snapshot of %s says what changed exactly if it is an update', (type) => {
  const isUpdate = type.endsWith('.updated');
  const { properties = {}, required = [] } = snapshotSchema(type);
  expect(Object.hasOwn(properties, 'changed')).toBe(isUpdate);
  expect(Object.hasOwn(samples.get(type) ?? {}, 'changed')).toBe(isUpdate);
  // Snapshots of earlier builds lack it.
  expect(required.toSorted()).toEqual(
    Object.keys(properties)
      .filter((name) => name !== 'changed')
      .toSorted(),
  );
});
