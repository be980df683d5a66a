-- Pages of a license's users and of its bans are in order of id: an index on the license alone would have to be read
-- and sorted whole for each page of a license that many share.
CREATE INDEX "end_users_license_id_id_idx" ON "end_users"("license_id", "id");
CREATE INDEX "bans_source_license_id_id_idx" ON "bans"("source_license_id", "id");

-- The new ones serve what these served.
DROP INDEX "end_users_license_id_idx";
DROP INDEX "bans_source_license_id_idx";
