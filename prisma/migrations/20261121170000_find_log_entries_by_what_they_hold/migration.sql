-- Where in an application's log which text stands, for searches: src/db/log-search.ts gathers it behind the writers, who
-- only note what is not gathered yet. No foreign keys: writing the log is to wait for nothing but its own rows.
CREATE TABLE "log_search_values" (
    "id" BIGSERIAL NOT NULL,
    "application_id" UUID NOT NULL,
    "value" TEXT NOT NULL,
    -- Weeks since the Unix epoch, of the newest entry that it was gathered from.
    "seen_week" INTEGER NOT NULL,

    CONSTRAINT "log_search_values_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 90); -- Room for the next week of a row on its own page.

-- The value first: an index that begins with the application would be read instead of the one of trigrams.
CREATE UNIQUE INDEX "log_search_values_value_application_id_key" ON "log_search_values"("value", "application_id");

-- The entries of an application from one id to another hold these values.
CREATE TABLE "log_search_blocks" (
    "id" BIGSERIAL NOT NULL,
    "application_id" UUID NOT NULL,
    "from_id" UUID NOT NULL,
    "to_id" UUID NOT NULL,
    "value_ids" BIGINT[],

    CONSTRAINT "log_search_blocks_pkey" PRIMARY KEY ("id")
);

-- In the row where it fits: what lies outside costs a reader more than the planner knows.
ALTER TABLE "log_search_blocks" ALTER COLUMN "value_ids" SET STORAGE MAIN;

-- CreateIndex
CREATE INDEX "log_search_blocks_application_id_idx" ON "log_search_blocks"("application_id");

-- CreateIndex
CREATE INDEX "log_search_blocks_value_ids_idx" ON "log_search_blocks" USING GIN ("value_ids") WITH (fastupdate = off);

-- Entries that are not gathered yet lie between these ids: so many, and others too.
CREATE TABLE "log_search_backlog" (
    "id" BIGSERIAL NOT NULL,
    "application_id" UUID NOT NULL,
    "from_id" UUID NOT NULL,
    "to_id" UUID NOT NULL,
    "entries" BIGINT NOT NULL,

    CONSTRAINT "log_search_backlog_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "log_search_backlog_application_id_to_id_idx" ON "log_search_backlog"("application_id", "to_id");

CREATE TYPE "id_range" AS RANGE (SUBTYPE = UUID);

CREATE FUNCTION "note_log_backlog"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "log_search_backlog" ("application_id", "from_id", "to_id", "entries")
    SELECT "application_id", min("id"::text COLLATE "C")::uuid, max("id"::text COLLATE "C")::uuid, count(*)
    FROM "added" WHERE "application_id" IS NOT NULL
    GROUP BY "application_id";
    RETURN NULL;
END $$;

-- Whoever deletes an application has waited for those who were writing its log.
CREATE FUNCTION "forget_log_search"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "log_search_backlog" WHERE "application_id" = OLD."id";
    DELETE FROM "log_search_blocks" WHERE "application_id" = OLD."id";
    DELETE FROM "log_search_values" WHERE "application_id" = OLD."id";
    RETURN NULL;
END $$;

CREATE TRIGGER "applications_forget_log_search" AFTER DELETE ON "applications"
    FOR EACH ROW EXECUTE FUNCTION "forget_log_search"();

-- Writers of the log wait from here to the end of this transaction, which is at once: each entry is either below the
-- whole range of its application, or noted by the trigger, in the statement that writes it.
CREATE TRIGGER "security_log_notes_backlog" AFTER INSERT ON "security_log"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "note_log_backlog"();

-- As many as there may be.
INSERT INTO "log_search_backlog" ("application_id", "from_id", "to_id", "entries")
SELECT "id", '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 9007199254740991
FROM "applications";
