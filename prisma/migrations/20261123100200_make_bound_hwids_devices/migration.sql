-- Licenses are locked only against deletion until this ends: they are used meanwhile. The next migration mends what changes between the reading of a license and
-- the end of this transaction.
INSERT INTO "devices" ("id", "license_id", "hwid", "device_hash", "first_seen_at", "last_seen_at", "last_ip")
SELECT "device_id_at"(coalesce("activated_at", "created_at")), "id", "hwid",
    CASE WHEN "hwid" IS NULL THEN "device_hash" END, coalesce("activated_at", "created_at"),
    date_trunc('minute', now()), "last_ip"
FROM "licenses" WHERE "hwid" IS NOT NULL OR "device_hash" IS NOT NULL
ON CONFLICT DO NOTHING;
