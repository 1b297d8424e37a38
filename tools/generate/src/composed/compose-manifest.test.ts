import { expect, test } from 'vitest';
import { composeManifest } from './compose-manifest.ts';

const common = {
  errors: { FORBIDDEN: { status: 403 } },
  limits: { tokens: 2_000, '{own}': true, hooks: 20 },
  costWeights: {
    'CancelHook.message': 1,
    'CreateHook.message': 1,
    'Mutation.cancelHook': 10,
    'Mutation.createHook': 10,
  },
};

/** With the order of keys. */
const textOf = (value: object): string => JSON.stringify(value);

test('own limits stand at their place, and own costs before the common ones with the same first word', () => {
  const own = {
    limits: { vendors: 5 },
    costWeights: { 'Mutation.createVendor': 10, 'CreateVendor.message': 2, 'Vendor.name': 1 },
  };
  expect(textOf(composeManifest(own, [common]))).toBe(
    textOf({
      errors: common.errors,
      limits: { tokens: 2_000, vendors: 5, hooks: 20 },
      costWeights: {
        'CancelHook.message': 1,
        'CreateVendor.message': 2,
        'CreateHook.message': 1,
        'Mutation.cancelHook': 10,
        'Mutation.createVendor': 10,
        'Mutation.createHook': 10,
        'Vendor.name': 1,
      },
    }),
  );
});

test('an interface can have nothing that others do not have', () => {
  expect(composeManifest({}, [common]).limits).toEqual({ tokens: 2_000, hooks: 20 });
});

test('a later edition changes, adds and removes entries', () => {
  const later = { limits: { hooks: null, tokens: 3_000, events: 7 } };
  expect(composeManifest({}, [common, later])).toEqual({ ...common, limits: { tokens: 3_000, events: 7 } });
});

test('refuses to remove what no edition has', () => {
  expect(() => composeManifest({}, [common, { limits: { hook: null } }])).toThrow('No earlier edition has hook');
});

test('refuses a common half without a place for own limits', () => {
  expect(() => composeManifest({}, [{ limits: { hooks: 20 } }])).toThrow('No edition has a place for the limits');
});

test.each([
  [{ limits: { hooks: 30 } }, 'hooks is in the common half, which every interface has.'],
  [
    { errors: { OTHER: {} } },
    'An interface cannot have its own errors, only limits, abilities, costWeights, costListSizes and costPageMaximums.',
  ],
  [{ costWeight: { 'Query.vendor': 1 } }, 'An interface cannot have its own costWeight'],
])('refuses %j', (own, message) => {
  expect(() => composeManifest(own, [common])).toThrow(message);
});
