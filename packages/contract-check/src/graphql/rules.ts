import type { Rule } from '../change.ts';

/**
 * Every verdict about SDL. Input is what clients send (arguments, input objects, and the enums and scalars in them),
 * output is what they are sent; a type can be both. The measure: does an operation that is valid today stay valid and keep
 * its meaning, and does the client that reads the answer still understand it?
 */
export const graphqlRules = {
  // Schema and types
  rootAdded: {
    what: 'a root operation type is added',
    verdict: 'minor',
    why: 'There is more to ask for; what could be asked stays.',
  },
  rootRemoved: {
    what: 'a root operation type is removed',
    verdict: 'major',
    why: 'Every operation of that kind stops working.',
  },
  rootReplaced: {
    what: 'a root operation type is replaced by a type of another name',
    verdict: 'major',
    why: 'A fragment on the root type names it.',
  },
  typeAdded: { what: 'a type is added', verdict: 'minor', why: 'An addition: nothing that exists depends on it.' },
  typeRemoved: {
    what: 'a type is removed',
    verdict: 'major',
    why: 'Fragments and variables name their types, and so does code generated from the schema.',
  },
  typeKindChanged: {
    what: 'a type becomes one of another kind',
    verdict: 'major',
    why: 'Selections, fragments and literals that fit one kind of type do not fit another.',
  },
  unreachableChanged: {
    what: 'a type that no operation could reach is changed or removed',
    verdict: 'patch',
    why: 'Only introspection and documentation show it: no operation can select it, spread it or send it.',
  },
  // Output: fields, interfaces, unions
  fieldAdded: { what: 'a field is added', verdict: 'minor', why: 'Nobody is sent a field without selecting it.' },
  fieldRemoved: {
    what: 'a field is removed, deprecated or not',
    verdict: 'major',
    why: 'An operation that selects it is not valid any more.',
  },
  outputNarrowed: {
    what: 'an output type becomes non-null, itself or inside a list',
    verdict: 'minor',
    why: 'Clients that handle null still work; the new promise cannot be taken back later.',
  },
  outputWidened: {
    what: 'an output type becomes nullable, itself or inside a list',
    verdict: 'major',
    why: 'A client that was promised a value meets null.',
  },
  outputTypeChanged: {
    what: 'an output type becomes another one, or a list, or stops being a list',
    verdict: 'major',
    why: 'The answer has another shape, and selections or fragments on the old type are not valid any more.',
  },
  interfaceImplemented: {
    what: 'a type implements one more interface',
    verdict: 'minor',
    why: 'It can be selected in one more way.',
  },
  interfaceAbandoned: {
    what: 'a type does not implement an interface any more',
    verdict: 'major',
    why: 'A fragment on the interface, spread on the type, is not valid any more.',
  },
  possibleTypeAdded: {
    what: 'a union gets a member, or a returned interface an implementation',
    verdict: 'minor',
    why: 'Outputs are open: a client must expect types that it does not know.',
  },
  possibleTypeAddedClosed: {
    what: 'a union gets a member, or a returned interface an implementation, and outputs are closed',
    verdict: 'major',
    why: 'Outputs are declared closed: a client may handle just the types that it knows.',
  },
  unionMemberRemoved: {
    what: 'a union loses a member',
    verdict: 'major',
    why: 'A fragment on that member is not valid any more.',
  },
  // Enums
  enumValueAddedInput: {
    what: 'an enum gets a value, input only',
    verdict: 'minor',
    why: 'Nobody has to send it.',
  },
  enumValueAddedOutput: {
    what: 'an enum gets a value, output or both',
    verdict: 'minor',
    why: 'Output enums are open: a client must accept values that it does not know.',
  },
  enumValueAddedClosed: {
    what: 'an enum gets a value, output or both, and outputs are closed',
    verdict: 'major',
    why: 'Outputs are declared closed: a client may handle just the values that it knows.',
  },
  enumValueRemovedInput: {
    what: 'an enum loses a value, input or both',
    verdict: 'major',
    why: 'An operation that sends it is refused.',
  },
  enumValueRemovedOutput: {
    what: 'an enum loses a value, output only',
    verdict: 'major',
    why: 'A client that waits for the value waits for ever, and code that names it does not compile.',
  },
  // Input: arguments, input fields
  optionalInputAdded: {
    what: 'an optional argument or input field is added',
    verdict: 'minor',
    why: 'It can be left out.',
  },
  requiredInputAdded: {
    what: 'a required argument or input field is added',
    verdict: 'major',
    why: 'An operation that does not know it is refused.',
  },
  inputRemoved: {
    what: 'an argument or input field is removed, deprecated or not',
    verdict: 'major',
    why: 'An operation that sends it is refused.',
  },
  inputWidened: {
    what: 'an input type becomes nullable, itself or inside a list',
    verdict: 'minor',
    why: 'All that was accepted still is, in literals and in variables.',
  },
  inputNarrowed: {
    what: 'an input type becomes non-null, itself or inside a list',
    verdict: 'major',
    why: 'A null, or a variable of the nullable type, that was accepted is refused.',
  },
  inputTypeChanged: {
    what: 'an input type becomes another one, or a list, or stops being a list',
    verdict: 'major',
    why: 'A variable declared with the old type does not fit any more, even where a literal still would.',
  },
  defaultOfRequiredAdded: {
    what: 'a required argument or input field gets a default',
    verdict: 'minor',
    why: 'It becomes optional, and nobody can have left it out before.',
  },
  defaultAdded: {
    what: 'an optional argument or input field gets a default',
    verdict: 'major',
    why: 'Operations that leave it out may be answered differently; whether the server took the same value before, SDL does not say.',
  },
  defaultChanged: {
    what: 'a default becomes another value',
    verdict: 'major',
    why: 'Operations that leave it out are silently answered differently.',
  },
  defaultRemoved: {
    what: 'a default is removed and the type stays nullable',
    verdict: 'major',
    why: 'Operations that leave it out send nothing where they sent the default.',
  },
  defaultOfNonNullRemoved: {
    what: 'a default is removed from a non-null type',
    verdict: 'major',
    why: 'It becomes required: operations that leave it out are refused.',
  },
  oneOfAdded: {
    what: 'an input object becomes @oneOf',
    verdict: 'major',
    why: 'Inputs with several fields, or none, are refused.',
  },
  oneOfRemoved: {
    what: 'an input object is not @oneOf any more',
    verdict: 'minor',
    why: 'Every input with exactly one field is still accepted.',
  },
  // Directive definitions
  directiveAdded: { what: 'a directive is defined', verdict: 'minor', why: 'Nobody has to use it.' },
  directiveRemoved: {
    what: 'a directive definition is removed',
    verdict: 'major',
    why: 'A document that applies it is not valid any more: an operation, or SDL that a client or tool builds on ours.',
  },
  directiveLocationAdded: {
    what: 'a directive may be applied at one more location',
    verdict: 'minor',
    why: 'Where it could be applied before, it still can.',
  },
  directiveLocationRemoved: {
    what: 'a directive may not be applied at a location any more',
    verdict: 'major',
    why: 'A document that applies it there is not valid any more.',
  },
  directiveRepeatableAdded: {
    what: 'a directive becomes repeatable',
    verdict: 'minor',
    why: 'Applying it once is still valid.',
  },
  directiveRepeatableRemoved: {
    what: 'a directive is not repeatable any more',
    verdict: 'major',
    why: 'A document that applies it twice at one place is not valid any more.',
  },
  // Applied directives
  inputBoundTightened: {
    what: 'a directive bounds an input more tightly (`max` down, `min` up, a bound or `pattern` added)',
    verdict: 'major',
    why: 'A value that was accepted is refused.',
  },
  inputBoundLoosened: {
    what: 'a directive bounds an input less tightly',
    verdict: 'minor',
    why: 'All that was accepted still is.',
  },
  outputBoundTightened: {
    what: 'a directive bounds an output more tightly',
    verdict: 'minor',
    why: 'What is sent was possible before; the new promise cannot be taken back later.',
  },
  outputBoundLoosened: {
    what: 'a directive bounds an output less tightly',
    verdict: 'major',
    why: 'A client that relied on the bound (a column, a buffer, a check) meets a value beyond it.',
  },
  costRaised: {
    what: 'a `@cost`, `@complexity` or `@listSize` number goes up, or is applied anew',
    verdict: 'major',
    why: 'An operation that was within the limits can be beyond them.',
  },
  costLowered: {
    what: 'a `@cost`, `@complexity` or `@listSize` number goes down, or is removed',
    verdict: 'minor',
    why: 'Every operation that was within the limits still is.',
  },
  specifiedByAdded: {
    what: 'a scalar gets a `@specifiedBy` address',
    verdict: 'minor',
    why: 'A promise about its format is added.',
  },
  specifiedByChanged: {
    what: 'the `@specifiedBy` address of a scalar is changed or removed',
    verdict: 'major',
    why: 'The format of its values may be another one; what is behind an address cannot be compared.',
  },
  directiveUndecided: {
    what: 'any other applied directive is added, changed or removed',
    verdict: 'major',
    why: 'What the directive does is not known here. Name it with --directive and the verdict that its changes deserve.',
  },
  directiveConfiguredPatch: {
    what: 'an applied directive that the caller declared `patch` is added, changed or removed',
    verdict: 'patch',
    why: 'Declared by the caller: a change of this directive is a patch.',
  },
  directiveConfiguredMinor: {
    what: 'an applied directive that the caller declared `minor` is added, changed or removed',
    verdict: 'minor',
    why: 'Declared by the caller: a change of this directive is minor.',
  },
  directiveConfiguredMajor: {
    what: 'an applied directive that the caller declared `major` is added, changed or removed',
    verdict: 'major',
    why: 'Declared by the caller: a change of this directive is major.',
  },
  // Documentation
  deprecated: {
    what: 'a field, argument, input field or enum value is deprecated',
    verdict: 'minor',
    why: 'Semantic Versioning asks for a minor when something is marked as deprecated.',
  },
  deprecationRevoked: {
    what: 'a deprecation is taken back',
    verdict: 'minor',
    why: 'A promise is given again: it stays.',
  },
  deprecationReasonChanged: {
    what: 'the reason of a deprecation is changed',
    verdict: 'patch',
    why: 'Documentation only.',
  },
  descriptionChanged: {
    what: 'a description is added, changed or removed',
    verdict: 'patch',
    why: 'Documentation: no operation and no answer is different.',
  },
} as const satisfies Record<string, Rule>;
