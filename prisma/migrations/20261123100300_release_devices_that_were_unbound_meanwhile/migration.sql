-- Licenses that were unbound, bound again or identified while the migration before copied them. From here on, the trigger
-- sees every device. The licenses are locked, so that none is bound to the device again that is released.
WITH "stale" AS MATERIALIZED (
    SELECT "devices"."id" FROM "licenses" JOIN "devices" ON "devices"."license_id" = "licenses"."id"
    WHERE "devices"."released_at" IS NULL
        AND coalesce("licenses"."device_count", 1) <= 1
        AND ("devices"."hwid" IS DISTINCT FROM "licenses"."hwid"
            OR "devices"."device_hash" IS DISTINCT FROM
                (CASE WHEN "licenses"."hwid" IS NULL THEN "licenses"."device_hash" END))
    FOR NO KEY UPDATE OF "licenses"
)
UPDATE "devices" SET "released_at" = now(), "released_by" = 'vendor', "may_return" = true
FROM "stale" WHERE "devices"."id" = "stale"."id" AND "devices"."released_at" IS NULL;
