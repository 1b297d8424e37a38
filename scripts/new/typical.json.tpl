{
  "id": "gid://{{gidNamespace}}/WebhookEvent/123456",
  "type": "{{type}}",
  "version": "{{version}}",
  "timestamp": "2026-11-03T09:30:00.123Z",
  "data": {
    "todo": "TODO"{{#if isUpdate}},
    "changed": [
      "todo"
    ]{{/if}}
  }
}
