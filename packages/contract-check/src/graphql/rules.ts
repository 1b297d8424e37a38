import { named, type RuleText } from '../change.ts';

/**
 * The rules for SDL. Input is what clients send: arguments, input objects, and the enums and scalars in them. Output is
 * what clients receive. A type can be both. A change is major if an operation that is valid today can become invalid or
 * change its meaning, or if a client can fail to read the response.
 */
export const graphqlRules = named('graphql', {
  // Schema and types
  rootAdded: {
    what: 'a root operation type is added',
    verdict: 'minor',
    why: 'Clients gain operations, and existing operations are unchanged.',
  },
  rootRemoved: {
    what: 'a root operation type is removed',
    verdict: 'major',
    why: 'Every operation of that kind fails.',
  },
  rootReplaced: {
    what: 'a root operation type is replaced by a type with another name',
    verdict: 'major',
    why: 'A fragment on the old root type is no longer valid.',
  },
  typeAdded: {
    what: 'a type is added',
    verdict: 'minor',
    why: 'No existing operation depends on it.',
  },
  typeRemoved: {
    what: 'a type is removed',
    verdict: 'major',
    why: 'Fragments, variables and generated code that name the type stop working.',
  },
  typeKindChanged: {
    what: 'a type changes its kind',
    verdict: 'major',
    why: 'Selections, fragments and literals written for the old kind are no longer valid.',
  },
  unreachableChanged: {
    what: 'a type that no operation can reach is changed or removed',
    verdict: 'patch',
    why: 'No operation can use the type, so only introspection and documentation show the change.',
  },
  // Output: fields, interfaces, unions
  fieldAdded: {
    what: 'a field is added',
    verdict: 'minor',
    why: 'Clients receive a field only if they select it.',
  },
  fieldRemoved: {
    what: 'a field is removed, deprecated or not',
    verdict: 'major',
    why: 'An operation that selects the field is no longer valid.',
  },
  outputNarrowed: {
    what: 'an output type becomes non-null, at the top level or inside a list',
    verdict: 'minor',
    why: 'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
  },
  outputNarrowedUnevenly: {
    what: 'an output type becomes non-null, but the same field of a type in the same interface or union stays nullable',
    verdict: 'major',
    why: 'An operation that selects both fields is no longer valid: fields with one name in a response must be equally nullable.',
  },
  outputWidened: {
    what: 'an output type becomes nullable, at the top level or inside a list',
    verdict: 'major',
    why: 'A client that relies on a value may receive null.',
  },
  outputTypeChanged: {
    what: 'an output type changes to another type, to a list, or from a list',
    verdict: 'major',
    why: 'The response has another shape, and selections or fragments on the old type are no longer valid.',
  },
  interfaceImplemented: {
    what: 'a type implements another interface',
    verdict: 'minor',
    why: 'Clients gain one more way to select the type.',
  },
  interfaceAbandoned: {
    what: 'a type no longer implements an interface',
    verdict: 'major',
    why: 'A fragment on the interface can no longer be spread on the type.',
  },
  possibleTypeAdded: {
    what: 'a union gains a member, or an interface that fields return gains an implementation',
    verdict: 'minor',
    why: 'Outputs are open: clients must accept unknown types.',
  },
  possibleTypeAddedClosed: {
    what: 'a union gains a member, or an interface that fields return gains an implementation, with closed outputs',
    verdict: 'major',
    why: 'Outputs are closed: a client may handle only the types that it knows.',
  },
  unionMemberRemoved: {
    what: 'a union loses a member',
    verdict: 'major',
    why: 'A fragment on that member is no longer valid.',
  },
  // Enums
  enumValueAddedInput: {
    what: 'a value is added to an enum that is only input',
    verdict: 'minor',
    why: 'Clients do not have to send it.',
  },
  enumValueAddedOutput: {
    what: 'a value is added to an enum that is output, or both input and output',
    verdict: 'minor',
    why: 'Outputs are open: clients must accept unknown enum values.',
  },
  enumValueAddedClosed: {
    what: 'a value is added to an enum that is output, or both input and output, with closed outputs',
    verdict: 'major',
    why: 'Outputs are closed: a client may handle only the enum values that it knows.',
  },
  enumValueRemovedInput: {
    what: 'a value is removed from an enum that is input, or both input and output',
    verdict: 'major',
    why: 'An operation that sends the value is rejected.',
  },
  enumValueRemovedOutput: {
    what: 'a value is removed from an enum that is only output',
    verdict: 'major',
    why: 'A client that waits for the value never receives it, and code that names it no longer compiles.',
  },
  // Input: arguments, input fields
  optionalInputAdded: {
    what: 'an optional argument or input field is added',
    verdict: 'minor',
    why: 'Operations may omit it.',
  },
  requiredInputAdded: {
    what: 'a required argument or input field is added',
    verdict: 'major',
    why: 'Existing operations do not send it and are rejected.',
  },
  inputRemoved: {
    what: 'an argument or input field is removed, deprecated or not',
    verdict: 'major',
    why: 'An operation that sends it is rejected.',
  },
  inputWidened: {
    what: 'an input type becomes nullable, at the top level or inside a list',
    verdict: 'minor',
    why: 'Every literal and variable that was accepted is still accepted.',
  },
  inputNarrowed: {
    what: 'an input type becomes non-null, at the top level or inside a list',
    verdict: 'major',
    why: 'An operation that sends null, or a variable of the nullable type, is rejected.',
  },
  inputTypeChanged: {
    what: 'an input type changes to another type, to a list, or from a list',
    verdict: 'major',
    why: 'An operation that declares a variable of the old type is rejected, even where a literal is still accepted.',
  },
  defaultOfRequiredAdded: {
    what: 'a required argument or input field gains a default',
    verdict: 'minor',
    why: 'It becomes optional, and no valid operation omitted it before.',
  },
  defaultAdded: {
    what: 'an optional argument or input field gains a default',
    verdict: 'major',
    why: 'Operations that omit it may get another result, because SDL does not show which value the server used before.',
  },
  semanticNonNullAdded: {
    what: '`@semanticNonNull` is added to an output field, or covers more levels',
    verdict: 'minor',
    why: 'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
  },
  semanticNonNullRemoved: {
    what: '`@semanticNonNull` is removed from an output field, or covers fewer levels',
    verdict: 'major',
    why: 'A client that relies on a value without an error may receive null.',
  },
  defaultChanged: {
    what: 'a default changes',
    verdict: 'major',
    why: 'Operations that omit it silently get another result.',
  },
  defaultRemoved: {
    what: 'a default is removed and the type is nullable',
    verdict: 'major',
    why: 'The server no longer uses the default for operations that omit it.',
  },
  defaultOfNonNullRemoved: {
    what: 'a default is removed and the type is non-null',
    verdict: 'major',
    why: 'It becomes required, so operations that omit it are rejected.',
  },
  oneOfAdded: {
    what: 'an input object becomes `@oneOf`',
    verdict: 'major',
    why: 'Inputs with no field or with several fields are rejected.',
  },
  oneOfRemoved: {
    what: 'an input object is no longer `@oneOf`',
    verdict: 'minor',
    why: 'Every input with exactly one field is still accepted.',
  },
  // Directive definitions
  directiveAdded: {
    what: 'a directive definition is added',
    verdict: 'minor',
    why: 'No document has to apply it.',
  },
  directiveRemoved: {
    what: 'a directive definition is removed',
    verdict: 'major',
    why: 'A document that applies it is no longer valid, whether an operation or SDL that extends this schema.',
  },
  directiveLocationAdded: {
    what: 'a directive may be applied at another location',
    verdict: 'minor',
    why: 'Every existing application is still valid.',
  },
  directiveLocationRemoved: {
    what: 'a directive may no longer be applied at a location',
    verdict: 'major',
    why: 'A document that applies it there is no longer valid.',
  },
  directiveRepeatableAdded: {
    what: 'a directive becomes repeatable',
    verdict: 'minor',
    why: 'A single application is still valid.',
  },
  directiveRepeatableRemoved: {
    what: 'a directive is no longer repeatable',
    verdict: 'major',
    why: 'A document that applies it more than once at one place is no longer valid.',
  },
  sdlDirectiveRestricted: {
    what: 'a directive that only SDL can apply is removed, or can be applied at fewer places or with fewer arguments',
    verdict: 'minor',
    why: 'No operation can apply it. Only SDL that extends this schema and applies it has to change.',
  },
  // Applied directives
  inputBoundTightened: {
    what: 'a directive bounds an input more tightly (lower `max`, higher `min`, a bound or `pattern` added)',
    verdict: 'major',
    why: 'An operation that sends a value outside the new bound is rejected.',
  },
  inputBoundLoosened: {
    what: 'a directive bounds an input less tightly',
    verdict: 'minor',
    why: 'Every value that was accepted is still accepted.',
  },
  outputBoundTightened: {
    what: 'a directive bounds an output more tightly',
    verdict: 'minor',
    why: 'Clients already handle every value that is sent, but the tighter bound cannot be withdrawn later.',
  },
  outputBoundLoosened: {
    what: 'a directive bounds an output less tightly',
    verdict: 'major',
    why: 'A client that relies on the bound (a column, a buffer, a check) receives a value beyond it.',
  },
  costRaised: {
    what: 'a `@cost`, `@complexity` or `@listSize` number is raised or added',
    verdict: 'major',
    why: 'An operation that was within the cost limit may exceed it.',
  },
  costLowered: {
    what: 'a `@cost`, `@complexity` or `@listSize` number is lowered or removed',
    verdict: 'minor',
    why: 'Every operation that was within the cost limit still is.',
  },
  specifiedByAdded: {
    what: 'a scalar gains a `@specifiedBy` URL',
    verdict: 'minor',
    why: 'The contract now specifies the format of the values.',
  },
  specifiedByChanged: {
    what: 'the `@specifiedBy` URL of a scalar is changed or removed',
    verdict: 'major',
    why: 'The values may have another format, because what a URL refers to cannot be compared.',
  },
  directiveUndecided: {
    what: 'any other applied directive is added, changed or removed',
    verdict: 'major',
    why: 'The effect of the change on clients is unknown. Set a verdict for the directive with --directive, or under contractCheck.directives in package.json.',
  },
  directiveConfiguredPatch: {
    what: 'an applied directive that you configured as `patch` is added, changed or removed',
    verdict: 'patch',
    why: 'Your configuration makes every change of this directive a patch.',
  },
  directiveConfiguredMinor: {
    what: 'an applied directive that you configured as `minor` is added, changed or removed',
    verdict: 'minor',
    why: 'Your configuration makes every change of this directive minor.',
  },
  directiveConfiguredMajor: {
    what: 'an applied directive that you configured as `major` is added, changed or removed',
    verdict: 'major',
    why: 'Your configuration makes every change of this directive major.',
  },
  // Documentation
  deprecated: {
    what: 'a field, argument, input field or enum value is deprecated',
    verdict: 'minor',
    why: 'Semantic Versioning requires a minor when functionality is deprecated.',
  },
  deprecationRevoked: {
    what: 'a deprecation is withdrawn',
    verdict: 'minor',
    why: 'Clients can rely on the element again.',
  },
  deprecationReasonChanged: {
    what: 'the reason of a deprecation changes',
    verdict: 'patch',
    why: 'Documentation only: the deprecation itself is unchanged.',
  },
  descriptionChanged: {
    what: 'a description is added, changed or removed',
    verdict: 'patch',
    why: 'Documentation only: operations and responses are unchanged.',
  },
} as const satisfies Record<string, RuleText>);
