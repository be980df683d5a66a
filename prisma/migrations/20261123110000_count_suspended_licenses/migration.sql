-- Suspended licenses are counted under an hour of their own, the largest number but one: of a program of an earlier version,
-- they are licenses that do not expire. No program has suspended any yet. A banned license counts as banned alone.
CREATE FUNCTION "counted_hour"("status" "LicenseStatus", "expires_at" TIMESTAMPTZ, "suspended_at" TIMESTAMPTZ) RETURNS BIGINT
    LANGUAGE SQL STABLE PARALLEL SAFE RETURN
    CASE WHEN "suspended_at" IS NOT NULL AND "status" <> 'banned' THEN 9223372036854775806
        ELSE "expiry_hour"("status", "expires_at") END;

-- The functions are those from before, with that hour.
CREATE OR REPLACE FUNCTION "count_licenses_added"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "counted_hour"("status", "expires_at", "suspended_at"), count(*) FROM "added"
    WHERE ("id" BETWEEN (SELECT "from_id" FROM "mint_under_way") AND (SELECT "to_id" FROM "mint_under_way")) IS NOT TRUE
    GROUP BY 1, 2, 3;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_licenses_removed"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "counted_hour"("status", "expires_at", "suspended_at"), -count(*) FROM "removed"
    WHERE ("id" BETWEEN (SELECT "from_id" FROM "mint_under_way") AND (SELECT "to_id" FROM "mint_under_way")) IS NOT TRUE
    GROUP BY 1, 2, 3
    -- Those of a deleted application go with it, and its counts too.
    HAVING EXISTS (SELECT FROM "applications" WHERE "applications"."id" = "removed"."application_id");
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_licenses_changed"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "hour", sum("change")
    FROM (
        SELECT "application_id", "status", "counted_hour"("status", "expires_at", "suspended_at") AS "hour", -1 AS "change"
        FROM "removed"
        UNION ALL
        SELECT "application_id", "status", "counted_hour"("status", "expires_at", "suspended_at"), 1 FROM "added"
    ) AS "each"
    GROUP BY 1, 2, 3
    HAVING sum("change") <> 0;
    RETURN NULL;
END $$;
