-- The mint that an embedded database takes in slices, if one is under way: its licenses are hidden until it is done.
CREATE TABLE "mint_under_way" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "application_id" UUID NOT NULL,
    "amount" INTEGER NOT NULL,
    -- The ids of its licenses, both included. They were made without a pause, so no other license has an id between.
    "from_id" UUID NOT NULL,
    "to_id" UUID NOT NULL,

    CONSTRAINT "mint_under_way_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mint_under_way_one_at_a_time" CHECK ("id" = 1)
);

-- Hidden licenses are counted when they are shown. The functions are those of the counts of licenses, with that condition.
CREATE OR REPLACE FUNCTION "count_licenses_added"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), count(*) FROM "added"
    WHERE ("id" BETWEEN (SELECT "from_id" FROM "mint_under_way") AND (SELECT "to_id" FROM "mint_under_way")) IS NOT TRUE
    GROUP BY 1, 2, 3;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_licenses_removed"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "license_count_changes" ("application_id", "status", "expiry_hour", "change")
    SELECT "application_id", "status", "expiry_hour"("status", "expires_at"), -count(*) FROM "removed"
    WHERE ("id" BETWEEN (SELECT "from_id" FROM "mint_under_way") AND (SELECT "to_id" FROM "mint_under_way")) IS NOT TRUE
    GROUP BY 1, 2, 3
    -- Those of a deleted application go with it, and its counts too.
    HAVING EXISTS (SELECT FROM "applications" WHERE "applications"."id" = "removed"."application_id");
    RETURN NULL;
END $$;
