"""
A {{words}} organization. TODO: who the accounts of this interface are.
"""
type {{account}} {
  """
  Global identifier of the account, in the form `gid://<namespace>/{{account}}/<number>`.
  """
  id: ID!
  """
  Name of the organization.
  """
  name: String!
}

"""
Input of `update{{pascal}}`.
"""
input Update{{pascal}}Input {
  """
  New name of your organization, 1 to 200 characters and not blank.
  """
  name: String!
}

"""
Result of `update{{pascal}}`.
"""
type Update{{pascal}}Payload {
  """
  Your organization. Null if there are user errors; nothing was changed.
  """
  {{camel}}: {{account}}
  """
  Reasons why nothing was changed. Empty on success.
  """
  userErrors: [Update{{pascal}}UserError!]!
}

"""
A reason why the organization was not changed.
"""
type Update{{pascal}}UserError implements UserError {
  """
  Machine-readable reason.
  """
  code: Update{{pascal}}UserErrorCode!
  """
  Human-readable reason.
  """
  message: String!
  """
  Path of the input field that caused the error, for example `["input", "name"]`. List indexes are strings. Null
  if no single field caused it.
  """
  field: [String!]
}

"""
Why the organization was not changed. More values may be added; handle unknown ones.
"""
enum Update{{pascal}}UserErrorCode {
  """
  The name is blank or longer than 200 characters.
  """
  NAME_INVALID
}

