-- Keys from before have the default of 0082. In a transaction of its own, so that requests are authenticated meanwhile.
alter table api_key validate constraint api_key_abilities_bounds;
