import { describe, expect, test } from 'vitest';
import { compareJsonSchemas } from './compare-json-schema.ts';

/** The rules of the changes for a consumer. Takes texts, because a JavaScript number could not hold these. */
function rulesOf(from: string, to: string): string[] {
  const { changes } = compareJsonSchemas({ file: 'a', text: from }, { file: 'b', text: to }, { direction: 'consumer' });
  return changes.map(({ rule }) => rule);
}

describe('numbers that a double cannot hold', () => {
  test.each([
    ['{ "maximum": 9007199254740993 }', '{ "maximum": 9007199254740992 }', 'boundTightened'],
    ['{ "minimum": 1e400 }', '{ "minimum": 1e399 }', 'boundLoosened'],
    ['{ "minimum": 1e-400 }', '{ "minimum": 2e-400 }', 'boundTightened'],
    ['{ "exclusiveMaximum": 0.3 }', '{ "exclusiveMaximum": 0.30000000000000001 }', 'boundLoosened'],
    ['{ "multipleOf": 9007199254740993 }', '{ "multipleOf": 9007199254740992 }', 'boundTightened'],
    ['{ "multipleOf": 0.1 }', '{ "multipleOf": 0.30000000001 }', 'boundLoosened'],
    ['{ "multipleOf": 0.1 }', '{ "multipleOf": 0.1000000000000000055511151231257827 }', 'boundTightened'],
    ['{ "maxLength": 9007199254740993 }', '{ "maxLength": 9007199254740992 }', 'boundTightened'],
    [
      '{ "contains": true, "maxContains": 9007199254740993 }',
      '{ "contains": true, "maxContains": 9007199254740992 }',
      'boundTightened',
    ],
    ['{ "const": 9007199254740993 }', '{ "const": 9007199254740992 }', 'constChanged'],
    ['{ "enum": [1, 9007199254740993] }', '{ "enum": [1, 9007199254740992] }', 'enumValueRemoved'],
    ['{ "default": 9007199254740993 }', '{ "default": 9007199254740992 }', 'defaultChanged'],
    ['{ "examples": [9007199254740993] }', '{ "examples": [9007199254740992] }', 'documentationChanged'],
  ])('%s became %s: %s', (from, to, rule) => {
    expect(rulesOf(from, to)).toContain(`json-schema/${rule}`);
  });

  test('a tightened step is no loosened one: 0.3 is a multiple of 0.1', () => {
    expect(rulesOf('{ "multipleOf": 0.1 }', '{ "multipleOf": 0.3 }')).toEqual(['json-schema/boundTightened']);
  });

  test.each([
    ['{ "maximum": 10 }', '{ "maximum": 1e1 }'],
    ['{ "maximum": 0.1 }', '{ "maximum": 1.00e-1 }'],
    ['{ "enum": [1, 2.0] }', '{ "enum": [10e-1, 2] }'],
    [
      '{ "type": "integer", "maximum": 9007199254740992 }',
      '{ "type": "integer", "exclusiveMaximum": 9007199254740993 }',
    ],
    ['{ "type": "integer", "minimum": 1e-9 }', '{ "type": "integer", "exclusiveMinimum": 0 }'],
    ['{ "type": "integer", "minimum": -1.5 }', '{ "type": "integer", "minimum": -1 }'],
  ])('%s has the values of %s', (from, to) => {
    expect(rulesOf(from, to)).toEqual([]);
  });

  test('a number that would fill the memory is rejected', () => {
    expect(() => rulesOf('true', '{\n"maximum": 1e999999999\n}')).toThrow(
      'b:2: /maximum must be a number below 1e10000',
    );
  });
});
