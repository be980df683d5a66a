-- How many licenses stand where: of an application by status, those with an expiry by its hour, so that how many have
-- expired by now is a sum over hours and a look at the licenses of one.
CREATE TABLE "license_counts" (
    "application_id" UUID NOT NULL,
    "status" "LicenseStatus" NOT NULL,
    -- Hours since the Unix epoch; the largest number for a license that does not expire, or not yet.
    "expiry_hour" BIGINT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "license_counts_pkey" PRIMARY KEY ("application_id", "status", "expiry_hour")
);

-- What changed since the counts were last brought up to date: the truth is the sum of both. Changes are only added,
-- so that who mints and who activates never wait for each other. No foreign keys, for the same reason.
CREATE TABLE "license_count_changes" (
    "id" BIGSERIAL NOT NULL,
    "application_id" UUID NOT NULL,
    "status" "LicenseStatus" NOT NULL,
    "expiry_hour" BIGINT NOT NULL,
    "change" BIGINT NOT NULL,

    CONSTRAINT "license_count_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "license_count_changes_application_id_idx" ON "license_count_changes"("application_id");

CREATE FUNCTION "expiry_hour"("status" "LicenseStatus", "expires_at" TIMESTAMPTZ) RETURNS BIGINT
    LANGUAGE SQL STABLE PARALLEL SAFE RETURN
    CASE WHEN "status" = 'active' AND "expires_at" IS NOT NULL
        THEN floor(extract(epoch FROM "expires_at") / 3600)::bigint ELSE 9223372036854775807 END;

-- Licenses are not written from here to the end of this transaction: about half a second for each million.
LOCK TABLE "licenses" IN SHARE ROW EXCLUSIVE MODE;

CREATE FUNCTION "count_licenses_added"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), count(*) FROM "added" GROUP BY 1, 2, 3;
    RETURN NULL;
END $$;

CREATE FUNCTION "count_licenses_removed"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), -count(*) FROM "removed"
    GROUP BY 1, 2, 3
    -- Those of a deleted application go with it, and its counts too.
    HAVING EXISTS (SELECT FROM "applications" WHERE "applications"."id" = "removed"."application_id");
    RETURN NULL;
END $$;

CREATE FUNCTION "count_licenses_changed"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "hour", sum("change")
    FROM (
        SELECT "application_id", "status", "expiry_hour"("status", "expires_at") AS "hour", -1 AS "change" FROM "removed"
        UNION ALL
        SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), 1 FROM "added"
    ) AS "each"
    GROUP BY 1, 2, 3
    HAVING sum("change") <> 0;
    RETURN NULL;
END $$;

CREATE TRIGGER "licenses_count_added" AFTER INSERT ON "licenses"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_licenses_added"();
CREATE TRIGGER "licenses_count_removed" AFTER DELETE ON "licenses"
    REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_licenses_removed"();
CREATE TRIGGER "licenses_count_changed" AFTER UPDATE ON "licenses"
    REFERENCING OLD TABLE AS "removed" NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_licenses_changed"();

INSERT INTO "license_counts"
SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), count(*) FROM "licenses" GROUP BY 1, 2, 3;
