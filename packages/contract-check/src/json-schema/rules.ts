import type { Verdict } from '../verdict.ts';

export interface DirectedRule {
  readonly what: string;
  readonly producer: Judgement;
  readonly consumer: Judgement;
}

interface Judgement {
  readonly verdict: Verdict;
  readonly why: string;
}

const sentStillExpected: Judgement = {
  verdict: 'minor',
  why: 'What is sent was possible before; the new promise cannot be taken back later.',
};
const sentUnexpected: Judgement = { verdict: 'major', why: 'A receiver meets what the old schema ruled out.' };
const stillAccepted: Judgement = { verdict: 'minor', why: 'All that was accepted still is.' };
const refused: Judgement = { verdict: 'major', why: 'A sender is refused what was accepted.' };
const documentation: Judgement = { verdict: 'patch', why: 'Documentation: the same values are valid.' };

/** Fewer values are valid. */
const narrower = { producer: sentStillExpected, consumer: refused };
/** More values are valid. */
const wider = { producer: sentUnexpected, consumer: stillAccepted };

/** Every verdict about JSON Schema. Where nothing else is said, fewer valid values break senders, more break receivers. */
export const jsonSchemaRules = {
  // Types
  typeAdded: { what: 'one more type is allowed (`type` grows or goes, `integer` becomes `number`)', ...wider },
  typeRemoved: { what: 'a type is not allowed any more (`number` becomes `integer`, for one)', ...narrower },
  nullAdded: { what: 'null is allowed, in whichever notation', ...wider },
  nullRemoved: { what: 'null is not allowed any more', ...narrower },
  // Values
  enumValueAdded: {
    what: 'an `enum` grows',
    producer: { verdict: 'minor', why: 'Outputs are open: a receiver must accept values that it does not know.' },
    consumer: stillAccepted,
  },
  enumValueAddedClosed: {
    what: 'an `enum` grows, and outputs are closed',
    producer: {
      verdict: 'major',
      why: 'Outputs are declared closed: a receiver may handle just the values that it knows.',
    },
    consumer: stillAccepted,
  },
  enumValueRemoved: {
    what: 'an `enum` shrinks',
    producer: { verdict: 'major', why: 'A receiver that waits for the value waits for ever.' },
    consumer: refused,
  },
  constWidened: {
    what: 'a `const` becomes one of several values',
    producer: { verdict: 'major', why: 'A constant is not open: a receiver may take it for granted.' },
    consumer: stillAccepted,
  },
  constChanged: {
    what: 'a `const` becomes another value',
    producer: sentUnexpected,
    consumer: refused,
  },
  valuesListed: { what: 'an `enum` or `const` is added', ...narrower },
  valuesUnlisted: { what: 'an `enum` or `const` is dropped', ...wider },
  // Bounds and texts
  boundTightened: {
    what: 'a bound is tightened or added (`maximum`, `minLength`, `maxItems`, `uniqueItems`, `multipleOf`, …)',
    ...narrower,
  },
  boundLoosened: { what: 'a bound is loosened or dropped', ...wider },
  patternAdded: { what: 'a `pattern` is added', ...narrower },
  patternRemoved: { what: 'a `pattern` is dropped', ...wider },
  patternChanged: {
    what: 'a `pattern` becomes another one',
    producer: { verdict: 'major', why: 'Whether two patterns allow the same texts is not decided here: the larger case is taken.' },
    consumer: { verdict: 'major', why: 'Whether two patterns allow the same texts is not decided here: the larger case is taken.' },
  },
  formatNarrowed: { what: 'a `format` is added, or becomes a part of the old one (`idn-email` → `email`)', ...narrower },
  formatWidened: { what: 'a `format` is dropped, or becomes one that holds the old one', ...wider },
  formatChanged: { what: 'a `format` becomes another one', producer: sentUnexpected, consumer: refused },
  // Objects
  propertyAdded: {
    what: 'a property is declared that an open object already let pass',
    producer: { verdict: 'minor', why: 'Receivers ignore what they do not know.' },
    consumer: { verdict: 'minor', why: 'Nobody was promised that the name means anything, so nobody sends it.' },
  },
  propertyAddedClosed: {
    what: 'a property is added to a closed object (`additionalProperties: false`)',
    producer: { verdict: 'major', why: 'Whoever validates with the old schema refuses the new property.' },
    consumer: stillAccepted,
  },
  propertyRemoved: {
    what: 'a property is removed, required or not',
    producer: { verdict: 'major', why: 'A receiver that reads it finds nothing.' },
    consumer: { verdict: 'major', why: 'What a sender gives is refused, or silently ignored.' },
  },
  propertyForbidden: { what: 'a property that was not declared is forbidden (`false`)', ...narrower },
  requiredAdded: { what: 'a property becomes required', ...narrower },
  requiredRemoved: {
    what: 'a property is not required any more',
    producer: { verdict: 'major', why: 'A receiver that reads it may find nothing.' },
    consumer: stillAccepted,
  },
  objectClosed: { what: 'an open object is closed', ...narrower },
  objectOpened: { what: 'a closed object is opened', ...wider },
  // Combinations
  variantAdded: { what: 'an `anyOf` or `oneOf` gets a branch of a type that it already had', ...wider },
  variantRemoved: {
    what: 'an `anyOf` or `oneOf` loses such a branch',
    producer: { verdict: 'major', why: 'A receiver that waits for the variant waits for ever.' },
    consumer: refused,
  },
  exclusive: {
    what: 'values that fit several branches of a `oneOf` may be refused (`anyOf` becomes `oneOf`, or a branch that overlaps is added)',
    ...narrower,
  },
  notExclusive: { what: 'a `oneOf` whose branches overlap becomes an `anyOf`', ...wider },
  conditionAdded: {
    what: 'a condition is added (`not`, `if`, `contains`, `dependentRequired`, `dependentSchemas`, `propertyNames`, `patternProperties`)',
    ...narrower,
  },
  conditionRemoved: { what: 'a condition is dropped', ...wider },
  // What is said beside the values
  defaultAdded: {
    what: 'a `default` is added',
    producer: { verdict: 'minor', why: 'What an absent value means was not said before.' },
    consumer: {
      verdict: 'major',
      why: 'Whoever leaves it out may be served differently; whether the same value was taken before, the schema does not say.',
    },
  },
  defaultChanged: {
    what: 'a `default` is changed or dropped',
    producer: { verdict: 'major', why: 'An absent value means something else to a receiver that fills in the default.' },
    consumer: { verdict: 'major', why: 'Whoever leaves it out is silently served differently.' },
  },
  deprecated: {
    what: '`deprecated` is set',
    producer: { verdict: 'minor', why: 'Semantic Versioning asks for a minor when something is marked as deprecated.' },
    consumer: { verdict: 'minor', why: 'Semantic Versioning asks for a minor when something is marked as deprecated.' },
  },
  deprecationRevoked: {
    what: '`deprecated` is taken back',
    producer: { verdict: 'minor', why: 'A promise is given again: it stays.' },
    consumer: { verdict: 'minor', why: 'A promise is given again: it stays.' },
  },
  accessRestricted: {
    what: '`readOnly` or `writeOnly` is set',
    producer: { verdict: 'major', why: 'A value that is only written is not sent any more.' },
    consumer: { verdict: 'major', why: 'A value that is only read is refused or ignored when it is sent.' },
  },
  accessOpened: {
    what: '`readOnly` or `writeOnly` is taken back',
    producer: { verdict: 'minor', why: 'More can be done with it; what could be done still can.' },
    consumer: { verdict: 'minor', why: 'More can be done with it; what could be done still can.' },
  },
  identityChanged: {
    what: 'the `$schema` or `$id` of the whole schema is changed',
    producer: {
      verdict: 'major',
      why: 'Validators choose by `$schema` how to read all the rest, and other schemas refer to it by `$id`.',
    },
    consumer: {
      verdict: 'major',
      why: 'Validators choose by `$schema` how to read all the rest, and other schemas refer to it by `$id`.',
    },
  },
  documentationChanged: {
    what: '`title`, `description`, `examples` or a keyword that the specification does not know is changed',
    producer: documentation,
    consumer: documentation,
  },
} as const satisfies Record<string, DirectedRule>;
