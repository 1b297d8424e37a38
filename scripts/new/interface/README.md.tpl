# @deedwire/{{name}}-schema

The contract of the {{words}} interface, `POST {{path}}/graphql`: for each version, the GraphQL SDL, TypeScript types, and a manifest of what SDL cannot express, such as error codes, headers and limits.

TODO: what the interface is for, and for whom.

`@deedwire/{{name}}-schema` exports `versions` and `sdl(version)`, and each version its types, its SDL and its manifest: `@deedwire/{{name}}-schema/{{version}}`, `…/{{version}}.graphql` and `…/{{version}}.manifest.json`. [What all interfaces share](../../docs/interfaces.md) describes costs, retries, events and limits.
