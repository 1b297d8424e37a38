import { snapshotSchema } from '@deedwire/core';
import { expect, test } from 'vitest';
import { firm } from './index.ts';

test.each(firm.events)('the snapshot of $type says what changed exactly if it is an update', (event) => {
  const isUpdate = event.type.endsWith('.updated');
  const { properties = {}, required = [] } = snapshotSchema(event);
  expect(Object.hasOwn(properties, 'changed')).toBe(isUpdate);
  expect(Object.hasOwn(event.sample('service'), 'changed')).toBe(isUpdate);
  // Snapshots of earlier builds lack it.
  expect(required.toSorted()).toEqual(
    Object.keys(properties)
      .filter((name) => name !== 'changed')
      .toSorted(),
  );
});
