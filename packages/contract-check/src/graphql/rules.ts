import { major, minor, named, patch } from '../change.ts';

/**
 * The rules for SDL. Input is what clients send: arguments, input objects, and the enums and scalars in them. Output is
 * what clients receive. A type can be both. A change is major if an operation that is valid today can become invalid or
 * change its meaning, or if a client can fail to read the response.
 */
export const graphqlRules = named('graphql', {
  // Schema and types
  rootAdded: minor('a root operation type is added', 'Clients gain operations, and existing operations are unchanged.'),
  rootRemoved: major('a root operation type is removed', 'Every operation of that kind fails.'),
  rootReplaced: major(
    'a root operation type is replaced by a type with another name',
    'A fragment on the old root type is no longer valid.',
  ),
  typeAdded: minor('a type is added', 'No existing operation depends on it.'),
  typeRemoved: major('a type is removed', 'Fragments, variables and generated code that name the type stop working.'),
  typeKindChanged: major(
    'a type changes its kind',
    'Selections, fragments and literals written for the old kind are no longer valid.',
  ),
  unreachableChanged: patch(
    'a type that no operation can reach, or an element that was `@inaccessible`, is changed or removed',
    'No operation can use it, so only introspection and documentation show the change.',
  ),
  unreachableBroken: patch(
    'a type that no operation can reach is removed, or changed in a way that is major for other types',
    'No operation can use the type. If clients use it in another way, such as for webhook payloads, pass --partial or set "partial", so that every type counts.',
  ),
  // Output: fields, interfaces, unions
  fieldAdded: minor('a field is added', 'Clients receive a field only if they select it.'),
  fieldRemoved: major(
    'a field is removed, deprecated or not',
    'An operation that selects the field is no longer valid.',
  ),
  outputNarrowed: minor(
    'an output type becomes non-null, at the top level or inside a list',
    'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
  ),
  outputNarrowedUnevenly: major(
    'an output type becomes non-null, but the same field of a type in the same interface or union stays nullable',
    'An operation that selects both fields is no longer valid: fields with one name in a response must be equally nullable.',
  ),
  outputWidened: major(
    'an output type becomes nullable, at the top level or inside a list',
    'A client that relies on a value may receive null.',
  ),
  outputTypeChanged: major(
    'an output type changes to another type, to a list, or from a list',
    'The response has another shape, and selections or fragments on the old type are no longer valid.',
  ),
  interfaceImplemented: minor('a type implements another interface', 'Clients gain one more way to select the type.'),
  interfaceAbandoned: major(
    'a type no longer implements an interface',
    'A fragment on the interface can no longer be spread on the type.',
  ),
  possibleTypeAdded: minor(
    'a union gains a member, or an interface that fields return gains an implementation',
    'Outputs are open: clients must accept unknown types.',
  ),
  possibleTypeAddedClosed: major(
    'a union gains a member, or an interface that fields return gains an implementation, with closed outputs',
    'Outputs are closed: a client may handle only the types that it knows.',
  ),
  unionMemberRemoved: major('a union loses a member', 'A fragment on that member is no longer valid.'),
  // Enums
  enumValueAddedInput: minor('a value is added to an enum that is only input', 'Clients do not have to send it.'),
  enumValueAddedOutput: minor(
    'a value is added to an enum that is output, or both input and output',
    'Outputs are open: clients must accept unknown enum values.',
  ),
  enumValueAddedClosed: major(
    'a value is added to an enum that is output, or both input and output, with closed outputs',
    'Outputs are closed: a client may handle only the enum values that it knows.',
  ),
  enumValueRemovedInput: major(
    'a value is removed from an enum that is input, or both input and output',
    'An operation that sends the value is rejected.',
  ),
  enumValueRemovedOutput: major(
    'a value is removed from an enum that is only output',
    'A client that waits for the value never receives it, and code that names it no longer compiles.',
  ),
  // Input: arguments, input fields
  optionalInputAdded: minor('an optional argument or input field is added', 'Operations may omit it.'),
  requiredInputAdded: major(
    'a required argument or input field is added',
    'Existing operations do not send it and are rejected.',
  ),
  inputRemoved: major(
    'an argument or input field is removed, deprecated or not',
    'An operation that sends it is rejected.',
  ),
  inputWidened: minor(
    'an input type becomes nullable, at the top level or inside a list',
    'Every literal and variable that was accepted is still accepted.',
  ),
  inputNarrowed: major(
    'an input type becomes non-null, at the top level or inside a list',
    'An operation that sends null, or a variable of the nullable type, is rejected.',
  ),
  inputTypeChanged: major(
    'an input type changes to another type, to a list, or from a list',
    'An operation that declares a variable of the old type is rejected, even where a literal is still accepted.',
  ),
  defaultOfRequiredAdded: minor(
    'a required argument or input field gains a default',
    'It becomes optional, and no valid operation omitted it before.',
  ),
  defaultAdded: major(
    'an optional argument or input field gains a default',
    'Operations that omit it may get another result, because SDL does not show which value the server used before.',
  ),
  nullDefaultChanged: minor(
    'the default null of an optional argument or input field is added or removed',
    'A server that takes an omitted value for null, as most do, behaves the same.',
  ),
  semanticNonNullAdded: minor(
    '`@semanticNonNull` is added to an output field, or covers more levels',
    'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
  ),
  semanticNonNullRemoved: major(
    '`@semanticNonNull` is removed from an output field, or covers fewer levels',
    'A client that relies on a value without an error may receive null.',
  ),
  defaultChanged: major('a default changes', 'Operations that omit it silently get another result.'),
  defaultRemoved: major(
    'a default is removed and the type is nullable',
    'The server no longer uses the default for operations that omit it.',
  ),
  defaultOfNonNullRemoved: major(
    'a default is removed and the type is non-null',
    'It becomes required, so operations that omit it are rejected.',
  ),
  oneOfAdded: major('an input object becomes `@oneOf`', 'Inputs with no field or with several fields are rejected.'),
  oneOfRemoved: minor('an input object is no longer `@oneOf`', 'Every input with exactly one field is still accepted.'),
  // Directive definitions
  directiveAdded: minor('a directive definition is added', 'No document has to apply it.'),
  directiveRemoved: major(
    'a directive definition is removed',
    'A document that applies it is no longer valid, whether an operation or SDL that extends this schema.',
  ),
  directiveLocationAdded: minor(
    'a directive may be applied at another location',
    'Every existing application is still valid.',
  ),
  directiveLocationRemoved: major(
    'a directive may no longer be applied at a location',
    'A document that applies it there is no longer valid.',
  ),
  directiveRepeatableAdded: minor('a directive becomes repeatable', 'A single application is still valid.'),
  directiveRepeatableRemoved: major(
    'a directive is no longer repeatable',
    'A document that applies it more than once at one place is no longer valid.',
  ),
  sdlDirectiveRestricted: minor(
    'a directive that only SDL can apply is removed, or can be applied at fewer places or with fewer arguments',
    'No operation can apply it. Only SDL that extends this schema and applies it has to change.',
  ),
  // Applied directives
  inputBoundTightened: major(
    'a directive bounds an input more tightly (lower `max`, higher `min`, a bound or `pattern` added)',
    'An operation that sends a value outside the new bound is rejected.',
  ),
  inputBoundLoosened: minor(
    'a directive bounds an input less tightly',
    'Every value that was accepted is still accepted.',
  ),
  outputBoundTightened: minor(
    'a directive bounds an output more tightly',
    'Clients already handle every value that is sent, but the tighter bound cannot be withdrawn later.',
  ),
  outputBoundLoosened: major(
    'a directive bounds an output less tightly',
    'A client that relies on the bound (a column, a buffer, a check) receives a value beyond it.',
  ),
  costRaised: major(
    'a `@cost`, `@complexity` or `@listSize` number is raised or added',
    'An operation that was within the cost limit may exceed it.',
  ),
  costLowered: minor(
    'a `@cost`, `@complexity` or `@listSize` number is lowered or removed',
    'Every operation that was within the cost limit still is.',
  ),
  specifiedByAdded: minor(
    'a scalar gains a `@specifiedBy` URL',
    'The contract now specifies the format of the values.',
  ),
  specifiedByChanged: major(
    'the `@specifiedBy` URL of a scalar is changed or removed',
    'The values may have another format, because what a URL refers to cannot be compared.',
  ),
  federationInternal: patch(
    'a directive that only the composition and the router read is added, changed or removed: `@link`, `@tag`, `@composeDirective`, `@extends`, `@requires`, `@provides`, `@override` or `@cacheControl`',
    'The API stays the same for clients and for the other subgraphs.',
  ),
  federationOpened: minor(
    '`@key` or `@shareable` is added, or `@inaccessible`, `@external`, `@authenticated`, `@requiresScopes` or `@policy` removed',
    'Clients or other subgraphs gain something that cannot be withdrawn later.',
  ),
  federationClosed: major(
    '`@key` or `@shareable` is removed, or `@inaccessible`, `@external`, `@authenticated`, `@requiresScopes` or `@policy` added',
    'Clients or other subgraphs can no longer use what they could before.',
  ),
  directiveUndecided: major(
    'any other applied directive is added, changed or removed',
    'The effect of the change on clients is unknown. Set a verdict for the directive with --directive, or under contractCheck.directives in package.json.',
  ),
  directiveConfiguredPatch: patch(
    'an applied directive that you configured as `patch` is added, changed or removed',
    'Your configuration makes every change of this directive a patch.',
  ),
  directiveConfiguredMinor: minor(
    'an applied directive that you configured as `minor` is added, changed or removed',
    'Your configuration makes every change of this directive minor.',
  ),
  directiveConfiguredMajor: major(
    'an applied directive that you configured as `major` is added, changed or removed',
    'Your configuration makes every change of this directive major.',
  ),
  // Documentation
  deprecated: minor(
    'a field, argument, input field or enum value is deprecated',
    'Semantic Versioning requires a minor when functionality is deprecated.',
  ),
  deprecationRevoked: minor('a deprecation is withdrawn', 'Clients can rely on the element again.'),
  deprecationReasonChanged: patch(
    'the reason of a deprecation changes',
    'Documentation only: the deprecation itself is unchanged.',
  ),
  descriptionChanged: patch(
    'a description is added, changed or removed',
    'Documentation only: operations and responses are unchanged.',
  ),
});
