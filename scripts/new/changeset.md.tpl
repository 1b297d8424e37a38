---
{{#each packages}}
'@deedwire/{{this}}': minor
{{/each}}
---

TODO: what is new, for the reader of the changelog.
