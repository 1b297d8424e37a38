-- Gives the periods from before 0067 the ids of their coordinates. As there, at most 8 MB for an app: the newest.
with used as (
  select app, encode(sha256(convert_to(coordinates, 'UTF8')), 'hex') as digest, coordinates, max(counted_until) as used_until
  from use_counting
  where coordinates_id is null
  group by app, coordinates
), stored as (
  select app, sum(size_of_coordinates(coordinates)) as bytes from counted_coordinates group by app
), measured as (
  select u.*, coalesce(s.bytes, 0)
    + sum(size_of_coordinates(u.coordinates)) over (partition by u.app order by u.used_until desc, u.digest) as bytes
  from used u left join stored s using (app)
)
insert into counted_coordinates (app, digest, coordinates)
select app, digest, coordinates from measured where bytes <= 8000000
on conflict do nothing;

do $$
declare
  of_open boolean;
begin
  -- The rows last for which record_use() waits.
  foreach of_open in array array[false, true] loop
    update use_counting u
    set coordinates = '', coordinates_id = (
      select c.id
      from counted_coordinates c
      where c.app = u.app and c.digest = encode(sha256(convert_to(u.coordinates, 'UTF8')), 'hex')
    )
    where u.coordinates_id is null and (u.state = 'OPEN') = of_open;
  end loop;
end
$$;
