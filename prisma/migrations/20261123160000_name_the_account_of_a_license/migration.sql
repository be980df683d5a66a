-- No foreign key: deleting the end user must not make somebody else's account the license's.
ALTER TABLE "licenses" ADD COLUMN "owner_user_id" UUID;
